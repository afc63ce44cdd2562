// A probability as a small bar, with its interval and its value in the data.
import { svg } from "../dom.js";
import { percent } from "../format.js";

const HEIGHT = 14;

/** Return a bar on a scale that ends at `most`; `exact` is what it is compared with, called `exactName`. */
export function rangeBar({ value, lower = null, upper = null, exact = null, exactName = "in the data", most = 1 }) {
  const x = (p) => `${(100 * Math.min(Math.max(p, 0), most)) / most}%`;
  const parts = [
    svg("rect", { class: "track", width: "100%", y: 3, height: HEIGHT - 6, rx: 4 }),
    svg("rect", { class: "bar", width: x(value), y: 3, height: HEIGHT - 6, rx: 4 }),
  ];
  if (lower !== null) {
    const middle = HEIGHT / 2;
    parts.push(svg("line", { class: "interval", x1: x(lower), x2: x(upper), y1: middle, y2: middle }));
  }
  if (exact !== null) parts.push(svg("line", { class: "exact", x1: x(exact), x2: x(exact), y1: 1, y2: HEIGHT - 1 }));
  const interval = lower === null ? "" : `, between ${percent(lower)} and ${percent(upper)}`;
  const compared = exact === null ? "" : `, ${exactName} ${percent(exact)}`;
  const label = `${percent(value)}${interval}${compared}`;
  return svg("svg", { class: "range-bar", role: "img", "aria-label": label }, parts, svg("title", {}, label));
}
