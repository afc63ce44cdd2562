// Items as a network: lines join those that attract each other, broken lines those that avoid each other.
import { asButton, oneStop, svg } from "../dom.js";
import { cropped, percent, plural, textOf } from "../format.js";
import { networkLayout } from "./layout.js";

const MARGIN = { x: 60, y: 30 };
const LABEL = { x: 92, y: 30 };
const ROUNDS = 80;

/** Draw the network of some pairs; `chosen` is an item or null. */
export function network({ items, pairs, chosen, width, onChoose, isDirected = false }) {
  const height = Math.round(Math.min(Math.max(width * 0.68, 24 * items.length, 340), 640));
  const at = new Map(items.map(({ item }, index) => [item, index]));
  const links = pairs.map((pair) => [at.get(pair.item), at.get(pair.other)]);
  const places = spreadOut(
    networkLayout(items.length, links).map(({ x, y }) => ({
      x: MARGIN.x + x * (width - 2 * MARGIN.x),
      y: MARGIN.y + y * (height - 2 * MARGIN.y),
    })),
    { x: width - MARGIN.x, y: height - MARGIN.y },
  );
  const strongest = Math.max(...pairs.map((pair) => pair.information), 1e-12);
  const near = new Set([chosen]);
  for (const pair of pairs) {
    if (pair.item === chosen) near.add(pair.other);
    if (pair.other === chosen) near.add(pair.item);
  }
  const edges = pairs.map((pair, index) => {
    const [from, to] = links[index].map((end) => places[end]);
    const end = isDirected ? beside(from, to, items[links[index][1]].probability) : to;
    return edge(pair, [from, end], strongest, chosen, isDirected);
  });
  const nodes = items.map((entry, index) => {
    const degree = links.filter((link) => link.includes(index)).length;
    return node(entry, places[index], degree, { chosen, isFar: !near.has(entry.item), onChoose });
  });
  const picture = svg(
    "svg",
    {
      class: `picture network${near.size > 1 ? " has-choice" : ""}`,
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": `Network of ${plural(items.length, "item")} and ${plural(pairs.length, "pair")}; arrow keys move among the items`,
    },
    isDirected ? arrowHead() : null,
    edges,
    nodes,
  );
  return oneStop(picture);
}

function arrowHead() {
  const shape = svg("path", { d: "M0 0L8 4L0 8Z", class: "arrow-head" });
  return svg("defs", {}, svg("marker", { id: "arrow-head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, shape));
}

/** Where an arrow to a node ends: at its rim. */
function beside(from, to, probability) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = Math.max(length - radiusOf(probability) - 3, 0) / length;
  return { x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y) };
}

function radiusOf(probability) {
  return 4 + 12 * Math.sqrt(probability);
}

function edge(pair, [from, to], strongest, chosen, isDirected) {
  const isFar = pair.item !== chosen && pair.other !== chosen;
  return svg(
    "line",
    {
      class: `edge ${pair.leverage >= 0 ? "positive" : "negative"}${isFar ? " far" : ""}`,
      x1: from.x,
      y1: from.y,
      x2: to.x,
      y2: to.y,
      "marker-end": isDirected ? "url(#arrow-head)" : null,
      "stroke-width": 1 + (isDirected ? 2.5 : 5) * Math.sqrt(pair.information / strongest),
      "stroke-opacity": 0.35 + 0.5 * Math.sqrt(pair.information / strongest),
    },
    svg("title", {}, `${textOf(pair.item)} and ${textOf(pair.other)}: lift ${pair.lift.toFixed(2)}`),
  );
}

function node({ item, probability }, place, degree, { chosen, isFar, onChoose }) {
  const label = `${textOf(item)}, ${percent(probability)}, ${plural(degree, "link")}`;
  return svg(
    "g",
    { class: `node${isFar ? " far" : ""}`, ...asButton(label, item === chosen, () => onChoose(item)) },
    svg("circle", { cx: place.x, cy: place.y, r: radiusOf(probability) }),
    svg("text", { x: place.x, y: place.y - 8 - 12 * Math.sqrt(probability), "text-anchor": "middle" }, cropped(item, 22)),
    svg("title", {}, label),
  );
}

/** Push nodes apart whose labels would cover each other, and keep them inside the picture. */
function spreadOut(places, { x: right, y: bottom }) {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let a = 0; a < places.length; a += 1) {
      for (let b = a + 1; b < places.length; b += 1) separate(places[a], places[b]);
    }
    for (const place of places) {
      place.x = Math.min(Math.max(place.x, MARGIN.x), right);
      place.y = Math.min(Math.max(place.y, MARGIN.y), bottom);
    }
  }
  return places;
}

function separate(a, b) {
  const overlap = { x: LABEL.x - Math.abs(a.x - b.x), y: LABEL.y - Math.abs(a.y - b.y) };
  if (overlap.x <= 0 || overlap.y <= 0) return;
  const axis = overlap.y <= overlap.x ? "y" : "x";
  const by = (a[axis] <= b[axis] ? -0.25 : 0.25) * overlap[axis];
  a[axis] += by;
  b[axis] -= by;
}
