// Counts as bars side by side.
import { fitted, h, refill, svg } from "../dom.js";
import { count } from "../format.js";

const HEIGHT = 128;
const HEAD = 16;
const FOOT = 18;

/** Make a histogram; `draw` gets bars of { count, title } and the labels of its two ends. */
export function histogram({ label }) {
  const place = h("figure");
  let last = null;

  function draw(bars, from, to) {
    last = { bars, from, to };
    if (place.clientWidth) paint(place.clientWidth);
  }

  function paint(width) {
    if (!last) return;
    const { bars, from, to } = last;
    const most = Math.max(...bars.map((bar) => bar.count), 1);
    const step = width / Math.max(bars.length, 1);
    const top = HEIGHT - FOOT;
    const drawn = bars.map((bar, at) => {
      const height = bar.count === 0 ? 0 : Math.max((bar.count / most) * (top - HEAD), 1.5);
      const box = { x: at * step + 0.75, y: top - height, width: Math.max(step - 1.5, 0.5), height, rx: 1.5 };
      return svg("rect", box, svg("title", {}, `${bar.title}: ${count(bar.count)}`));
    });
    const tallest = bars.findIndex((bar) => bar.count === most);
    const anchor = tallest < bars.length / 3 ? "start" : tallest > (2 * bars.length) / 3 ? "end" : "middle";
    const where = { start: tallest * step, middle: (tallest + 0.5) * step, end: (tallest + 1) * step }[anchor];
    const summary = `${label}: ${bars.filter((bar) => bar.count).map((bar) => `${bar.title}: ${count(bar.count)}`).join("; ")}`;
    const picture = svg(
      "svg",
      { class: "picture histogram", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": summary },
      drawn,
      tallest >= 0 ? svg("text", { x: where, y: HEAD - 5, "text-anchor": anchor }, count(most)) : null,
      svg("line", { class: "axis", x1: 0, x2: width, y1: top, y2: top }),
      svg("text", { x: 0, y: HEIGHT - 3 }, from),
      svg("text", { x: width, y: HEIGHT - 3, "text-anchor": "end" }, to),
    );
    refill(place, picture);
  }

  fitted(place, paint);
  return { element: place, draw };
}
