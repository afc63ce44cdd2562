// Itemsets as text, with a quiet comma between the names.
import { h } from "../dom.js";

/** Return an itemset, as a link where there is an address to go to. */
export function itemset(names, href = null) {
  const parts = names.flatMap((name, at) =>
    at === 0 ? [String(name)] : [h("span", { class: "comma" }, ", "), String(name)],
  );
  return h(href ? "a" : "span", { class: "itemset", href }, parts);
}
