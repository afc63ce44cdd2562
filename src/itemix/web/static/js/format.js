// Numbers and names as people read them.

const COUNT = new Intl.NumberFormat("en-US");

export function count(n) {
  return COUNT.format(n);
}

export function plural(n, noun) {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** A probability in percent, with three digits that matter, or with as many decimals as told. */
export function percent(p, decimals = decimalsOf(p)) {
  if (p === null || p === undefined) return "–";
  if (p > 0 && p < 1e-7) return `${(100 * p).toExponential(1)}%`;
  return `${(100 * p).toFixed(decimals)}%`;
}

/** How many decimals a percentage needs for three digits, or for as many as told. */
export function decimalsOf(p, digits = 3) {
  if (!p || p <= 0) return 0;
  return Math.min(Math.max(digits - 1 - Math.floor(Math.log10(100 * p)), 1), 7);
}

/** How many decimals a column of percentages needs for two digits of its smallest one, which is the threshold. */
export function columnDecimals(threshold) {
  return threshold >= 0.1 ? 1 : Math.min(Math.max(decimalsOf(threshold, 2), 2), 5);
}

/** A threshold as it is written into its field. */
export function thresholdText(p) {
  return `${short(100 * p, 3)}%`;
}

/** The share of a component in percent; those that hold next to nothing are not called nothing. */
export function share(weight) {
  return weight < 0.0005 ? "<0.1%" : percent(weight, 1);
}

/** A measure with four digits that matter. */
export function measure(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return count(Math.round(value));
  if (size > 0 && size < 0.1) return value.toPrecision(3);
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

export function times(lift) {
  if (lift === null || lift === undefined) return "–";
  return `${lift >= 100 ? count(Math.round(lift)) : lift.toFixed(lift >= 10 ? 1 : 2)}×`;
}

/** A number with few digits, as it is written into fields and addresses. */
export function short(value, digits = 2) {
  return String(Number(value.toPrecision(digits)));
}

const INVISIBLE = /^[\s\p{C}]*$/u;

/** The text of a name; of one that nobody would see, the numbers of its characters. */
export function textOf(name) {
  const text = String(name);
  if (!INVISIBLE.test(text)) return text;
  return [...text].map((one) => `U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");
}

export function listed(names) {
  return names.map(textOf).join(", ");
}

/** Cut a long name, in whole characters. */
export function cropped(name, length) {
  const characters = [...textOf(name)];
  return characters.length <= length ? characters.join("") : `${characters.slice(0, length - 1).join("")}…`;
}
