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

/** How many decimals a percentage needs for three digits; a column takes those of its smallest one. */
export function decimalsOf(p) {
  if (!p || p <= 0) return 0;
  return Math.min(Math.max(2 - Math.floor(Math.log10(100 * p)), 1), 7);
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

export function listed(names) {
  return names.map(String).join(", ");
}

/** Cut a long name for a picture, where it cannot be wrapped. */
export function cropped(name, length) {
  const text = String(name);
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
