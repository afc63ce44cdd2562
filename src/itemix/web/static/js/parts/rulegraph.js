// The first rules of the table as a graph: an arrow goes from each item of the left side to each of the right.
import { fitted, h, redraw, refill } from "../dom.js";
import { plural } from "../format.js";
import { network } from "./network.js";
import { savers } from "./plot.js";

const MOST_RULES = 40;

/** Make the graph; `draw` gets rows of the table. */
export function ruleGraph(page) {
  const place = h("div");
  const text = h("p", { class: "small soft" });
  const tools = h("div", { class: "toolbar picture-tools" }, savers(() => place.querySelector("svg"), `${page.model}-rules`));
  let last = null;

  function draw(rules) {
    const used = rules.slice(0, MOST_RULES);
    const [pairs, items] = [new Map(), new Map()];
    for (const rule of used) {
      for (const item of rule.antecedents) {
        for (const other of rule.consequents) {
          const key = JSON.stringify([item, other]);
          const lift = Math.max(rule.lift ?? 1, pairs.get(key)?.lift ?? 0);
          pairs.set(key, { item, other, lift, leverage: lift >= 1 ? 1 : -1, information: Math.abs(Math.log(Math.max(lift, 1e-9))) });
        }
      }
      for (const item of rule.antecedents) items.set(item, Math.max(items.get(item) ?? 0, rule.support));
      for (const item of rule.consequents) items.set(item, Math.max(items.get(item) ?? 0, rule.consequent_support));
    }
    last = { pairs: [...pairs.values()], items: [...items].map(([item, probability]) => ({ item, probability })) };
    refill(text, used.length ? `The first ${plural(used.length, "rule")} of the table: arrows lead from the left side to the right, the broader, the higher the lift. Choose an item to select it.` : "");
    paint(place.clientWidth);
  }

  function paint(width) {
    if (!last || !width) return;
    tools.hidden = last.items.length === 0;
    const onChoose = (item) => page.change({ items: String(item), offset: null });
    if (last.items.length) redraw(place, network({ ...last, chosen: null, width, onChoose, isDirected: true }));
    else refill(place);
  }

  fitted(place, paint);
  return { element: h("figure", {}, tools, place, text), draw };
}
