// What if: two baskets side by side, which kinds they may be, which item moves what, and what may come next.
import { h, refill } from "../dom.js";
import { percent, share, textOf, times } from "../format.js";
import { rangeBar } from "../parts/bars.js";
import { head } from "../parts/head.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemPicker } from "../parts/picker.js";
import { itemName } from "../parts/sets.js";

export const title = "What if";

const SEGMENTS = 6;
const SIDES = [
  ["A", "items", "The selection"],
  ["B", "other", "Compared with"],
];

export function create(page) {
  const find = (search, limit) => page.ask("items", { search, limit });
  const notice = noticePlace();
  const pickers = SIDES.map(([side, name, label]) => ({ name, ...itemPicker({ label: `Basket ${side}: ${label.toLowerCase()}`, find, onChange: (names) => page.change({ [name]: names }) }) }));
  const copy = h("button", { type: "button", class: "small" }, "Copy A to B");
  const places = SIDES.map(([side]) => h("section", { class: "card view", "aria-label": `Basket ${side}` }));
  const results = h("div", { class: "halves two-baskets" }, places);
  const element = h(
    "div",
    { class: "view" },
    head(title, "Two baskets side by side, of which more may be in them: what each tells, and what one more item would change."),
    h("section", { class: "card controls", "aria-label": "The baskets" }, h("div", { class: "halves two-baskets" }, pickers.map((one) => one.element)), h("div", {}, copy)),
    notice.element,
    results,
  );
  let baskets = [[], []];
  copy.addEventListener("click", () => page.change({ other: baskets[0] }));

  const refresh = worker({
    notice,
    dimmed: results,
    work: async (params) => {
      const wanted = SIDES.map(([, name]) => params.getAll(name));
      const answers = await Promise.all(wanted.map((basket) => page.ask("what-if", { basket })));
      answers.forEach((answer, at) => refill(places[at], drawn(page, SIDES[at], wanted[at], answer, answers[1 - at])));
      page.announce(answers.map(({ segments: [first] }, at) => `Basket ${SIDES[at][0]}: ${first ? `${first.name}, ${percent(first.share, 0)}` : "no kinds"}`).join("; "));
    },
  });

  return {
    element,
    update: (params) => {
      baskets = SIDES.map(([, name]) => params.getAll(name));
      pickers.forEach((picker, at) => picker.set(baskets[at]));
      copy.disabled = baskets[0].length === 0;
      return refresh(params);
    },
  };
}

function drawn(page, [side, name], basket, answer, other) {
  const add = (item) => () => page.change({ [name]: [...basket, String(item)] });
  const what = basket.length ? `${percent(answer.support)} of transactions hold all of it` : "Nothing is in it: what is usual";
  return [
    h("div", {}, h("h2", {}, `Basket ${side}`), h("p", { class: "soft small" }, what)),
    answer.segments.length ? kinds(page, side, answer, other) : null,
    answer.moves.length > 0 ? moves(answer.moves) : null,
    h("div", {}, h("h3", {}, "What may come next"), h("ul", { class: "plain-list" }, answer.recommendations.map((row) => next(row, other, basket, add)))),
  ].filter(Boolean);
}

/** Which kinds it may be; the mark is what the other basket says. */
function kinds(page, side, { segments }, other) {
  const elsewhere = new Map(other.segments.map((one) => [one.number, one.share]));
  const rows = segments.slice(0, SEGMENTS).map(({ number, name, share: part }) =>
    h(
      "li",
      {},
      h("a", { class: "itemset", href: page.href("components", { component: number }) }, h("bdi", {}, name)),
      rangeBar({ value: part, exact: elsewhere.get(number) ?? 0, exactName: `of the other basket`, most: 1 }),
      h("span", { class: "number" }, share(part)),
    ),
  );
  return h("div", {}, h("h3", {}, "Which kind it may be"), h("p", { class: "soft small" }, `The mark across a bar is basket ${side === "A" ? "B" : "A"}.`), h("ul", { class: "segment-list" }, rows));
}

function moves(found) {
  const rows = found.map(({ item, name, without, probability }) =>
    h("li", {}, h("b", {}, itemName(item)), h("span", {}, probability > without ? " raises " : " lowers ", h("bdi", {}, name), ` from ${percent(without, 0)} to ${percent(probability, 0)}`)),
  );
  return h("div", {}, h("h3", {}, "What each item moves"), h("ul", { class: "moves" }, rows));
}

function next({ item, probability, lift }, other, basket, add) {
  const there = other.recommendations.find((row) => row.item === item);
  const beside = there ? `other: ${percent(there.probability, 1)}` : times(lift);
  return h(
    "li",
    {},
    itemName(item),
    h("span", { class: "number" }, percent(probability, 1), h("span", { class: "soft small" }, `  ${beside}`)),
    h("button", { type: "button", "aria-label": `Add ${textOf(item)}`, click: add(item) }, "Add"),
  );
}
