// The model against what is counted: on the line both are the same; the worst misses are named.
import { h, refill } from "../dom.js";
import { count, listed, percent, plural } from "../format.js";
import { points } from "./points.js";
import { itemset } from "./sets.js";
import { table } from "./table.js";

const NAMED = 4;

/** Make the picture and the table of misses; `draw` gets an answer of /agreement. */
export function agreement(page) {
  const text = h("p", { class: "soft" });
  const picture = points({ name: `${page.model}-agreement`, noun: "itemsets", onChoose: ({ names }) => page.open(names), height: 460 });
  const misses = table({
    caption: "The worst misses",
    columns: () => [
      { label: "Itemset", class: "wide", cell: (row) => itemset(row.items, page.hrefOfSet(row.items)) },
      { label: "Model", class: "number", cell: (row) => percent(row.support) },
      { label: "Counted", class: "number", cell: (row) => percent(row.counted) },
      { label: "Errors", class: "number", cell: (row) => `${row.errors > 0 ? "+" : "−"}${Math.abs(row.errors).toFixed(1)}` },
    ],
    empty: "There are none.",
  });
  const element = h(
    "div",
    { class: "with-side wide-side" },
    h("section", { class: "card" }, h("h2", {}, "Model and data"), text, picture.element),
    h("section", { class: "card" }, h("h2", {}, "The worst misses"), h("p", { class: "soft small" }, "How many standard errors of the count lie between the two. Beyond two or three, chance does not explain it."), misses.element),
  );

  function draw(answer, called) {
    const { points: found, worst } = answer;
    const furthest = new Set(worst.slice(0, NAMED).map(({ items }) => JSON.stringify(items)));
    picture.draw({
      points: found.itemsets.map((names, at) => ({
        names,
        x: found.counted[at],
        y: found.support[at],
        r: 3.2,
        label: furthest.has(JSON.stringify(names)) ? listed(names) : null,
        text: `${listed(names)}\nmodel ${percent(found.support[at])}, counted ${percent(found.counted[at])}`,
      })),
      x: { label: `support in the ${called}`, type: "log", unit: "%" },
      y: { label: "support in the model", type: "log", unit: "%" },
      diagonal: true,
      opacity: 0.5,
    });
    const which = answer.n_counted < answer.n_itemsets ? `${count(answer.n_counted)} of ${plural(answer.n_itemsets, "itemset")}, evenly over their order` : plural(answer.n_itemsets, "itemset");
    const error = answer.mean_relative_error === null ? "" : ` The model is off by ${percent(answer.mean_relative_error)} of the support on average.`;
    refill(text, `${which}, counted in the ${called}.${error}`);
    misses.draw(worst);
  }

  return { element, draw };
}
