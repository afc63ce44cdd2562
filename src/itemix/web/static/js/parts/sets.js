// Names of items, and itemsets as text with a quiet comma between the names.
import { h } from "../dom.js";
import { cropped, textOf } from "../format.js";

const LONGEST = 80;

/** Return the name of an item: whatever direction it is written in, nothing beside it turns with it. */
export function itemName(name) {
  const text = textOf(name);
  return h("bdi", { title: text.length > LONGEST ? text : null }, cropped(name, LONGEST));
}

/** Return names with something between each two of them. */
export function joinedNames(names, between) {
  return names.flatMap((name, at) => (at === 0 ? [itemName(name)] : [between(), itemName(name)]));
}

/** Return an itemset, as a link where there is an address to go to. */
export function itemset(names, href = null) {
  const parts = joinedNames(names, () => h("span", { class: "comma" }, ", "));
  return h(href ? "a" : "span", { class: "itemset", href }, parts);
}
