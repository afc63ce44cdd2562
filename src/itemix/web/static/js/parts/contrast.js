// Itemsets on logarithmic axes: what is seen upwards against what is expected to the right; finds are triangles.
import { h, refill, svg } from "../dom.js";
import { count, listed, plural, short } from "../format.js";
import { colourKey, points } from "./points.js";

const SIZE = 5.2;
const LEAST_HEAT = 0.25; // a find is never as cold as the ground
const LEAST_DECADES = 2; // the warmest colour is at least so far below the level

/**
 * Make the picture; `across` and `up` name the axes. `draw` gets points of { names, x, y, q, text, isKnown }, the most
 * significant first, how many there are in all, the level up to which a q value makes a find, and the box.
 */
export function contrast(page, { name, across, up, noun, more, less, onLine }) {
  const key = h("div", { class: "small soft" });
  const picture = points({
    name: `${page.model}-${name}`,
    noun: "finds",
    onChoose: ({ names, isKnown }) => isKnown !== false && page.open(names),
    onBox: (box) => page.change({ box, offset: null }),
  });

  function draw(found, total, level, box) {
    const coldest = Math.log10(level);
    const warmest = Math.min(...found.map(({ q }) => log10(q)), coldest - LEAST_DECADES);
    picture.draw({
      points: found.map((point) => ({
        ...point,
        text: `${listed(point.names)}\n${point.text}`,
        kind: point.q > level ? "other" : point.y > point.x ? "up" : "down",
        heat: LEAST_HEAT + ((1 - LEAST_HEAT) * (coldest - log10(point.q))) / (coldest - warmest),
      })),
      x: { label: across, type: "log", unit: "%" },
      y: { label: up, type: "log", unit: "%" },
      diagonal: true,
      box: box.length ? box : null,
    });
    drawKey(found, total, level);
  }

  function drawKey(found, total, level) {
    const marks = h(
      "p",
      { class: "key plain-key" },
      sample("find", triangle(7, 7, true), more),
      sample("find", triangle(7, 7, false), less),
      found.some(({ q }) => q > level) ? sample("other", null, `q above ${written(level)}: no find`) : null,
    );
    const which = found.length < total ? `The ${count(found.length)} most significant of ${plural(total, noun)}. ` : "";
    const colours = found.some(({ q }) => q <= level) ? colourKey(`q = ${written(level)}`, "smaller q") : null;
    refill(key, found.length ? [marks, colours, h("p", {}, `${which}${onLine} Choose a triangle to see its evidence.`)] : []);
  }

  return { element: h("figure", { class: "contrast" }, picture.element, key), draw };
}

function sample(kind, path, text) {
  const mark = path ? svg("path", { d: path }) : svg("circle", { cx: 7, cy: 7, r: 2.8 });
  const drawn = svg("svg", { class: "contrast", width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, svg("g", { class: kind }, mark));
  return h("span", { class: "plain" }, drawn, text);
}

function triangle(x, y, isUp) {
  const up = isUp ? -SIZE : SIZE;
  return `M${x} ${y + up}L${x + SIZE} ${y - 0.75 * up}L${x - SIZE} ${y - 0.75 * up}Z`;
}

function log10(q) {
  return Math.log10(Math.max(q, 1e-300));
}

function written(value) {
  return `${short(100 * value)}%`;
}
