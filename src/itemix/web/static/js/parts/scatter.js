// Rules as points: support to the right, confidence upwards, the warmer the higher the lift.
import { fitted, h, refill, svg } from "../dom.js";
import { count, listed, percent, plural, times } from "../format.js";

const HEIGHT = 260;
const MARGIN = { left: 40, right: 8, top: 22, bottom: 34 };
const FLAT = 1.001; // lifts that differ by less are drawn alike

/** Make a cloud of points; `draw` gets columns of both sides, support, confidence and lift, and how many rules there are. */
export function scatter() {
  const place = h("figure");
  const key = h("div", { class: "small soft" });
  let last = null;

  function draw(points, total) {
    last = { ...points, total };
    if (place.clientWidth) paint(place.clientWidth);
  }

  function paint(width) {
    if (!last) return;
    const { antecedents, consequents, support, confidence, lift, total } = last;
    if (support.length === 0) {
      refill(place);
      refill(key);
      return;
    }
    const x = logScale(Math.min(...support), Math.max(...support), MARGIN.left, width - MARGIN.right);
    const low = Math.floor(10 * Math.min(...confidence)) / 10;
    const y = (c) => HEIGHT - MARGIN.bottom - ((c - low) / Math.max(1 - low, 0.1)) * (HEIGHT - MARGIN.bottom - MARGIN.top);
    const lifts = lift.map((value) => value ?? 1);
    const [least, most] = [Math.min(...lifts), Math.max(...lifts)];
    const warm = most < least * FLAT ? () => 0 : logScale(least, most, 0, 100);
    const dots = support.map((s, at) => {
      const rule = `${listed(antecedents[at])} → ${listed(consequents[at])}`;
      const title = `${rule}\nsupport ${percent(s)}, confidence ${percent(confidence[at])}, lift ${times(lift[at])}`;
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
      svg("text", { x: 0, y: 10 }, "confidence"),
      svg("text", { x: MARGIN.left - 6, y: y(1) + 4, "text-anchor": "end" }, "100%"),
      svg("text", { x: MARGIN.left - 6, y: foot, "text-anchor": "end" }, percent(low, 0)),
    );
    refill(place, picture);
    drawKey(least, most, support.length, total);
  }

  function drawKey(least, most, drawn, total) {
    const ends = h("div", { class: "intro" }, h("span", {}, `lift ${times(least)}`), h("span", {}, times(most)));
    const which = drawn < total ? `The first ${count(drawn)} rules of the table. ` : "";
    const text = h("p", {}, `${which}Point at a dot to see its rule.`);
    refill(key, most < least * FLAT ? h("p", {}, `All have a lift of ${times(most)}.`) : [h("div", { class: "scale-bar" }), ends], text);
  }

  fitted(place, paint);
  return { element: h("div", {}, place, key), draw };
}

function logScale(low, high, from, to) {
  const width = Math.log(high / low) || 1;
  return (value) => from + ((to - from) * Math.log(value / low)) / width;
}
