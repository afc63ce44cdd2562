// Itemsets as points on logarithmic axes: what is seen upwards against what is expected to the right.
import { asButton, fitted, h, oneStop, redraw, refill, svg } from "../dom.js";
import { count, listed, plural, short } from "../format.js";
import { itemset } from "./sets.js";

const HEIGHT = 380;
const MARGIN = { left: 52, right: 14, top: 24, bottom: 40 };
const SIZE = 5.2;
const LEAST_DECADES = 2; // the warmest colour is at least so far below the level

/**
 * Make the picture; `across` and `up` name the axes. `draw` gets points of { names, x, y, q, text, href }, the most
 * significant first, how many there are in all, and the level up to which a q value makes a find.
 */
export function contrast({ across, up, noun, more, less, onLine }) {
  const place = h("div");
  const key = h("div", { class: "small soft" });
  const chosen = h("div", { class: "chosen", role: "status" });
  let last = null;
  let at = null; // the point that was chosen

  function draw(points, total, level) {
    last = { points, total, level };
    choose(null);
    drawKey();
  }

  function choose(index) {
    at = index === at ? null : index;
    const point = at === null ? null : last.points[at];
    refill(chosen, point ? h("p", {}, itemset(point.names, point.href)) : null, point ? h("p", { class: "small soft" }, point.text) : null);
    if (place.clientWidth) paint(place.clientWidth);
  }

  function paint(width) {
    if (!last) return;
    const { points, level } = last;
    if (points.length === 0) {
      refill(place);
      return;
    }
    const positive = points.flatMap(({ x, y }) => [x, y]).filter((value) => value > 0);
    const low = Math.min(...positive) / 1.6;
    const high = Math.max(...positive) * 1.25;
    const x = logScale(low, high, MARGIN.left, width - MARGIN.right);
    const y = logScale(low, high, HEIGHT - MARGIN.bottom, MARGIN.top);
    const coldest = Math.log10(level);
    const warmest = Math.min(...points.map(({ q }) => log10(q)), coldest - LEAST_DECADES);
    const finds = [];
    const others = [];
    points.forEach((point, index) => {
      if (point.q <= level) finds.push(find(point, index, (coldest - log10(point.q)) / (coldest - warmest)));
      else others.push(svg("circle", { class: "other", cx: x(point.x), cy: y(point.y), r: 2.4 }, svg("title", {}, titleOf(point))));
    });

    function find(point, index, heat) {
      const mark = svg("path", { d: triangle(x(point.x), y(point.y), point.y > point.x) }, svg("title", {}, titleOf(point)));
      mark.style.setProperty("--heat", `${100 * Math.min(Math.max(heat, 0), 1)}%`);
      return svg("g", { class: "find", ...asButton(titleOf(point), index === at, () => choose(index)) }, mark);
    }

    const foot = HEIGHT - MARGIN.bottom;
    const picture = svg(
      "svg",
      {
        class: "picture contrast",
        viewBox: `0 0 ${width} ${HEIGHT}`,
        role: "group",
        "aria-label": `${plural(points.length, noun)}, ${up} against ${across}, ${plural(finds.length, "find")}; arrow keys move among the finds`,
      },
      powers(low, high).flatMap((value) => [
        svg("line", { class: "grid", x1: x(value), x2: x(value), y1: MARGIN.top, y2: foot }),
        svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
        svg("text", { x: x(value), y: foot + 16, "text-anchor": "middle" }, written(value)),
        svg("text", { x: MARGIN.left - 7, y: y(value) + 4, "text-anchor": "end" }, written(value)),
      ]),
      svg("line", { class: "as-expected", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }),
      svg("text", { x: (width + MARGIN.left) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, across),
      svg("text", { x: 0, y: 11 }, up),
      others,
      finds.toReversed(), // the most significant on top
    );
    redraw(place, finds.length ? oneStop(picture, finds) : picture);
  }

  function drawKey() {
    const { points, total, level } = last;
    const marks = h(
      "p",
      { class: "key plain-key" },
      sample("find", triangle(7, 7, true), more),
      sample("find", triangle(7, 7, false), less),
      points.some(({ q }) => q > level) ? sample("other", null, `q above ${written(level)}: no find`) : null,
    );
    const which = points.length < total ? `The ${count(points.length)} most significant of ${plural(total, noun)}. ` : "";
    const colour = points.some(({ q }) => q <= level)
      ? h("div", { class: "short-scale" }, h("div", { class: "scale-bar" }), h("div", { class: "intro" }, h("span", {}, `q = ${written(level)}`), h("span", {}, "smaller q")))
      : null;
    refill(key, points.length ? [marks, colour, h("p", {}, `${which}${onLine} Choose a triangle to read about it.`)] : []);
  }

  fitted(place, paint);
  return { element: h("figure", {}, place, chosen, key), draw };
}

function sample(kind, path, text) {
  const mark = path ? svg("path", { d: path }) : svg("circle", { cx: 7, cy: 7, r: 2.8 });
  const drawn = svg("svg", { class: "contrast", width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, svg("g", { class: kind }, mark));
  drawn.style.setProperty("--heat", "60%");
  return h("span", { class: "plain" }, drawn, text);
}

function titleOf({ names, text }) {
  return `${listed(names)}: ${text}`;
}

function triangle(x, y, isUp) {
  const up = isUp ? -SIZE : SIZE;
  return `M${x} ${y + up}L${x + SIZE} ${y - 0.75 * up}L${x - SIZE} ${y - 0.75 * up}Z`;
}

/** What does not occur lies on the edge. */
function logScale(low, high, from, to) {
  const width = Math.log(high / low) || 1;
  return (value) => from + ((to - from) * Math.log(Math.max(value, low) / low)) / width;
}

function log10(q) {
  return Math.log10(Math.max(q, 1e-300));
}

/** Return round numbers between two bounds: powers of ten, and where these are few also twice and five times them. */
function powers(low, high) {
  const multiples = high / low > 300 ? [1] : [1, 2, 5];
  const found = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    found.push(...multiples.map((multiple) => multiple * power));
  }
  return found.filter((value) => value >= low && value <= high);
}

function written(value) {
  return `${short(100 * value)}%`;
}
