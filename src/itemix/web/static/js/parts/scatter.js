// Rules as points: support to the right, confidence upwards, the warmer the higher the lift.
import { fitted, h, refill, svg } from "../dom.js";
import { percent, plural, times } from "../format.js";

const HEIGHT = 260;
const MARGIN = { left: 40, right: 8, top: 8, bottom: 34 };

/** Make a cloud of points; `draw` gets columns of support, confidence and lift. */
export function scatter() {
  const place = h("figure");
  const key = h("div", { class: "small soft" });
  let last = null;

  function draw(points) {
    last = points;
    if (place.clientWidth) paint(place.clientWidth);
  }

  function paint(width) {
    if (!last) return;
    const { support, confidence, lift } = last;
    if (support.length === 0) {
      refill(place);
      refill(key);
      return;
    }
    const x = logScale(Math.min(...support), Math.max(...support), MARGIN.left, width - MARGIN.right);
    const low = Math.floor(10 * Math.min(...confidence)) / 10;
    const y = (c) => HEIGHT - MARGIN.bottom - ((c - low) / Math.max(1 - low, 0.1)) * (HEIGHT - MARGIN.bottom - MARGIN.top);
    const lifts = lift.map((value) => value ?? 1);
    const warm = logScale(Math.min(...lifts), Math.max(...lifts), 0, 100);
    const dots = support.map((s, at) => {
      const title = `support ${percent(s)}, confidence ${percent(confidence[at])}, lift ${times(lift[at])}`;
      const dot = svg("circle", { cx: x(s), cy: y(confidence[at]), r: 3.4 }, svg("title", {}, title));
      dot.style.setProperty("--heat", `${warm(lifts[at])}%`);
      return dot;
    });
    const foot = HEIGHT - MARGIN.bottom;
    const picture = svg(
      "svg",
      {
        class: "picture scatter",
        viewBox: `0 0 ${width} ${HEIGHT}`,
        role: "img",
        "aria-label": `${plural(support.length, "rule")} by support and confidence; the table has the same rules`,
      },
      svg("line", { class: "axis", x1: MARGIN.left, x2: width - MARGIN.right, y1: foot, y2: foot }),
      svg("line", { class: "axis", x1: MARGIN.left, x2: MARGIN.left, y1: MARGIN.top, y2: foot }),
      dots.reverse(), // the best rules on top
      svg("text", { x: MARGIN.left, y: foot + 15 }, percent(Math.min(...support))),
      svg("text", { x: width - MARGIN.right, y: foot + 15, "text-anchor": "end" }, percent(Math.max(...support))),
      svg("text", { x: (width + MARGIN.left) / 2, y: foot + 29, "text-anchor": "middle" }, "support"),
      svg("text", { x: MARGIN.left - 6, y: y(1) + 8, "text-anchor": "end" }, "100%"),
      svg("text", { x: MARGIN.left - 6, y: foot, "text-anchor": "end" }, percent(low, 0)),
    );
    refill(place, picture);
    drawKey(Math.min(...lifts), Math.max(...lifts));
  }

  function drawKey(least, most) {
    const ends = h("div", { class: "intro" }, h("span", {}, `lift ${times(least)}`), h("span", {}, times(most)));
    refill(key, h("div", { class: "scale-bar" }), ends);
  }

  fitted(place, paint);
  return { element: h("div", {}, place, key), draw };
}

function logScale(low, high, from, to) {
  const width = Math.log(high / low) || 1;
  return (value) => from + ((to - from) * Math.log(value / low)) / width;
}
