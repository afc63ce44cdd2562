// Items by items: a cell is as strong as the dependence of the two.
import { asButton, oneStop, svg } from "../dom.js";
import { cropped, measure, textOf } from "../format.js";

const MOST_ITEMS = 60;
const LEAST_STEP = 13; // so that labels do not touch

/** Draw the matrix of some pairs, as many items as can be read; `chosen` is an item or null. */
export function matrix({ pairs, chosen, width, onChoose }) {
  const all = ordered(pairs);
  const items = all.slice(0, Math.min(MOST_ITEMS, Math.floor((0.68 * width) / LEAST_STEP)));
  const at = new Map(items.map((item, index) => [item, index]));
  const longest = Math.max(...items.map((item) => textOf(item).length), 1);
  const side = Math.min(16 + 6.6 * longest, 150, width * 0.32);
  const step = Math.min((width - side) / Math.max(items.length, 1), 24);
  const size = side + items.length * step;
  const strongest = Math.max(...pairs.map((pair) => pair.information), 1e-12);
  const crop = Math.floor((side - 14) / 6.4);

  const labels = items.flatMap((item, index) => {
    const y = side + (index + 0.5) * step + 4;
    return [
      svg(
        "text",
        { class: "label row", x: side - 8, y, "text-anchor": "end", ...asButton(textOf(item), item === chosen, () => onChoose(item)) },
        cropped(item, crop),
      ),
      svg(
        "text",
        { class: "label", transform: `translate(${side + (index + 0.5) * step + 4} ${side - 8}) rotate(-90)` },
        cropped(item, crop),
      ),
    ];
  });
  const cells = pairs
    .filter((pair) => at.has(pair.item) && at.has(pair.other))
    .flatMap((pair) => {
      const [a, b] = [at.get(pair.item), at.get(pair.other)];
      return [
        [a, b],
        [b, a],
      ].map(([row, column]) => cell(pair, side + column * step, side + row * step, step, strongest));
    });
  const ground = { class: "ground", x: side, y: side, width: items.length * step, height: items.length * step };
  const picture = svg(
    "svg",
    {
      class: "picture matrix",
      viewBox: `0 0 ${width} ${size + 24}`,
      role: "group",
      "aria-label": `Matrix of the dependences of ${items.length} items; arrow keys move among them`,
    },
    svg("rect", ground),
    cells,
    labels,
    items.length < all.length
      ? svg("text", { x: 0, y: size + 18 }, `${items.length} of ${all.length} items; move the slider to the right for fewer`)
      : null,
  );
  return oneStop(picture);
}

function cell(pair, x, y, step, strongest) {
  const box = { x, y, width: step - 1, height: step - 1, "fill-opacity": 0.2 + 0.8 * Math.sqrt(pair.information / strongest) };
  return svg(
    "rect",
    { class: pair.leverage >= 0 ? "positive" : "negative", ...box },
    svg("title", {}, `${textOf(pair.item)} and ${textOf(pair.other)}: lift ${pair.lift.toFixed(2)}, ${measure(pair.information)} bits`),
  );
}

/** Put linked items next to each other: walk from the strongest pair along the strongest links. */
function ordered(pairs) {
  const links = new Map();
  for (const pair of pairs) {
    for (const [from, to] of [
      [pair.item, pair.other],
      [pair.other, pair.item],
    ]) {
      if (!links.has(from)) links.set(from, []);
      links.get(from).push(to);
    }
  }
  const order = new Set();
  const visit = (item) => {
    if (order.has(item)) return;
    order.add(item);
    links.get(item).forEach(visit);
  };
  [...links.keys()].forEach(visit);
  return [...order];
}
