// Items by components: the darker, the more probable the item in the component.
import { asButton, fitted, h, oneStop, redraw, svg } from "../dom.js";
import { cropped, percent, textOf } from "../format.js";

const ROW = 19;
const HEAD = 20;
const LEAST_COLUMN = 7;

/** Make a heat map; `onChoose` gets the component that is clicked, `onDraw` how many of how many are drawn. */
export function heatMap({ onChoose, onDraw }) {
  const place = h("figure");
  let last = null;

  function draw(heat, components, chosen) {
    last = { heat, components, chosen };
    if (place.clientWidth) paint(place.clientWidth);
  }

  function paint(width) {
    if (!last) return;
    const { heat, components, chosen } = last;
    const longest = Math.max(...heat.items.map((item) => textOf(item).length), 1);
    const side = Math.min(20 + 6.6 * longest, 190, width * 0.36);
    const shown = components.slice(0, Math.floor((width - side) / LEAST_COLUMN));
    const step = Math.min((width - side) / Math.max(shown.length, 1), 46);
    const height = HEAD + heat.items.length * ROW;
    const labels = heat.items.map((item, row) =>
      svg(
        "text",
        { x: side - 8, y: HEAD + row * ROW + 13, "text-anchor": "end" },
        cropped(item, Math.floor(side / 6.6)),
        svg("title", {}, textOf(item)),
      ),
    );
    const columns = shown.map((component, at) => {
      const x = side + at * step;
      const cells = heat.items.map((item, row) => {
        const p = heat.probabilities[at][row];
        const box = { x, y: HEAD + row * ROW, width: Math.max(step - 1, 1), height: ROW - 1, "fill-opacity": p };
        return svg("rect", { class: "cell", ...box }, svg("title", {}, `${textOf(item)} in ${component.number}: ${percent(p)}`));
      });
      const label = `Component ${component.number}, ${percent(component.weight)} of transactions`;
      const isNamed = step >= 16 || component.number % 5 === 0 || component.number === 1;
      return svg(
        "g",
        { class: "column", ...asButton(label, component.number === chosen, () => onChoose(component.number)) },
        svg("rect", { class: "ground", x, y: HEAD, width: Math.max(step - 1, 1), height: height - HEAD }),
        cells,
        isNamed ? svg("text", { x: x + step / 2, y: 12, "text-anchor": "middle" }, String(component.number)) : null,
        svg("rect", { class: "frame", x, y: HEAD, width: Math.max(step - 1, 1), height: height - HEAD }),
      );
    });
    const picture = svg(
      "svg",
      { class: "picture heat", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Items by components; arrow keys move among the components" },
      labels,
      columns,
    );
    redraw(place, oneStop(picture));
    onDraw(shown.length, components.length);
  }

  fitted(place, paint);
  return { element: place, draw };
}
