// A slider on a logarithmic scale, with a field for the exact value and ticks at the powers of ten.
import { freshId, h, refill } from "../dom.js";
import { short } from "../format.js";

const STEPS = 1000;

/**
 * Make a slider.
 * `unit` is "%" or what is measured in; `factor` is how many of it make one: 100 for fractions in percent.
 */
export function logSlider({ label, low, high, unit, factor = 1, digits = 3, onChange }) {
  const id = freshId("slider");
  let bounds = { low, high };
  // The ends are exact, whatever is between them is rounded.
  const toValue = (step) => {
    if (step <= 0) return bounds.low;
    return step >= STEPS ? bounds.high : rounded(bounds.low * (bounds.high / bounds.low) ** (step / STEPS));
  };
  const toStep = (value) => (STEPS * Math.log(value / bounds.low)) / Math.log(bounds.high / bounds.low);
  const rounded = (value) => Math.min(Math.max(Number(value.toPrecision(digits)), bounds.low), bounds.high);
  const written = (value) => short(value * factor, digits);

  const range = h("input", {
    type: "range",
    id,
    min: 0,
    max: STEPS,
    step: 1,
    input: () => take(toValue(Number(range.value))),
    "aria-describedby": `${id}-hint`,
  });
  const hint = h("p", { class: "hint", id: `${id}-hint`, role: "status" });
  const field = h("input", {
    inputmode: "decimal",
    "aria-label": `${label}, exact value${unit ? ` in ${unit}` : ""}`,
    "aria-describedby": `${id}-hint`,
    change: () => {
      const typed = Number(field.value.replace("%", "").replace(",", ".").trim()) / factor;
      if (typed > 0 && typed <= bounds.high) take(typed);
      else refuse(field.value);
    },
  });
  const ticks = h("div", { class: "ticks", "aria-hidden": "true" });
  let current = high;
  let isDragged = false;
  let drag = 0; // each drag is a step of its own in the history
  let lowest = null; // a new lower end that waits until the slider is let go

  range.addEventListener("pointerdown", () => {
    isDragged = true;
    drag += 1;
  });
  for (const kind of ["pointerup", "pointercancel", "change"]) {
    range.addEventListener(kind, () => {
      isDragged = false;
      if (lowest !== null) setLowest(lowest);
    });
  }

  function take(value) {
    set(value);
    onChange(value, { control: `${id} ${drag}`, isHeld: isDragged });
  }

  /** Say what can be typed, and keep what was there. */
  function refuse(text) {
    field.value = written(current);
    const most = `${written(bounds.high)}${unit === "%" ? "%" : ` ${unit}`}`;
    refill(hint, `“${text}” cannot be used: expected a number above 0, up to ${most.trim()}.`);
  }

  function set(value) {
    refill(hint);
    current = value;
    // A position that is rounded to this value stays where it is: small steps would never add up otherwise.
    if (toValue(Number(range.value)) !== value) range.value = toStep(Math.max(value, bounds.low));
    range.setAttribute("aria-valuetext", `${written(value)} ${unit}`.trim());
    field.value = written(value);
  }

  function setBounds(lowest, highest) {
    bounds = { low: lowest, high: highest };
    refill(ticks, tickMarks());
    set(current);
  }

  /** Raise the lower end; not under the hand of who drags. */
  function setLowest(value) {
    lowest = isDragged ? value : null;
    if (!isDragged && value > bounds.low) setBounds(value, bounds.high);
  }

  function tickMarks() {
    const isWide = bounds.high / bounds.low > 300;
    return roundNumbers(bounds.low * factor, bounds.high * factor, isWide ? [1] : [1, 2, 5]).map((value) => {
      const mark = h("span", {}, `${short(value)}${unit === "%" ? "%" : ""}`);
      const place = toStep(value / factor) / (STEPS / 100);
      mark.style.left = `${place}%`;
      // At the ends a mark stays inside.
      if (place < 4 || place > 96) mark.className = place < 4 ? "first" : "last";
      return mark;
    });
  }

  const element = h(
    "div",
    { class: "slider" },
    h("label", { class: "label", for: id }, label),
    h("span", { class: "value" }, field, unit ? h("span", { class: "soft", "aria-hidden": "true" }, unit) : null),
    range,
    ticks,
    hint,
  );
  setBounds(low, high);
  return { element, set, setBounds, setLowest };
}

/** Return the multiples of powers of ten between two bounds, both included. */
function roundNumbers(low, high, multiples) {
  const found = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    found.push(...multiples.map((multiple) => multiple * power));
  }
  return found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}
