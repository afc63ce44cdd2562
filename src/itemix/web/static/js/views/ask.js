// Ask: the probability of what is picked, what changes it, and what a basket may lack.
import { h, refill } from "../dom.js";
import { count, percent, textOf, times } from "../format.js";
import { rangeBar } from "../parts/bars.js";
import { head } from "../parts/head.js";
import { dataName, doubts } from "../parts/doubts.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemPicker } from "../parts/picker.js";
import { itemName } from "../parts/sets.js";

export const title = "Ask";

const LEVEL = 0.9;
// The name of each list in questions, its label, and its name in the state: the selection is what is asked for.
const FIELDS = [
  ["present", "Present", "items"],
  ["absent", "Absent", "without"],
  ["given", "Given that there is", "given"],
  ["given_absent", "Given that there is no", "given_absent"],
];
const STORED = Object.fromEntries(FIELDS.map(([name, , stored]) => [name, stored]));

function eventOf(params) {
  return Object.fromEntries(FIELDS.map(([name, , stored]) => [name, params.getAll(stored)]));
}

export function create(page) {
  const find = (search, limit) => page.ask("items", { search, limit });
  const pickers = FIELDS.map(([name, label]) => ({
    name,
    ...itemPicker({ label, find, onChange: (names) => page.change({ [STORED[name]]: names }) }),
  }));
  const notice = noticePlace();
  const answerPlace = h("section", { class: "card answer", "aria-label": "The answer" });
  const recommended = h("section", { class: "card" });
  const raises = h("section", { class: "card" });
  const lowers = h("section", { class: "card" });
  const results = h(
    "div",
    { class: "view" },
    answerPlace,
    h("div", { class: "halves" }, recommended, raises, lowers),
  );
  const element = h(
    "div",
    { class: "view" },
    head(title, "Pick items, and the model says how probable they are together, given what is known."),
    h("section", { class: "card controls", "aria-label": "The question" }, h("div", { class: "filters" }, pickers.map((one) => one.element))),
    notice.element,
    results,
  );

  /** Add an item to one of the lists. */
  const add = (event, name) => (item) => page.change({ [STORED[name]]: [...event[name], String(item)] });

  const refresh = worker({
    notice,
    dimmed: results,
    work: async (params) => {
      const event = eventOf(params);
      const basket = { basket: [...event.present, ...event.given], absent: [...event.absent, ...event.given_absent] };
      const isAsked = event.present.length + event.absent.length > 0;
      const [answer, influences, recommendations] = await Promise.all([
        isAsked ? page.ask("query", { ...event, level: LEVEL }) : null,
        isAsked ? page.ask("influences", event) : { raises: [], lowers: [] },
        page.ask("recommend", { ...basket, complete: false }), // more may be in it
      ]);
      refill(answerPlace, isAsked ? drawnAnswer(page.about, answer, event) : invitation());
      if (isAsked) page.announce(`The probability of ${questionParts(event, textOf).join("")} is ${percent(answer.probability)}`);
      drawList(recommended, basket.basket.length ? "Also in such a basket" : "Most probable items", {
        rows: recommendations.recommendations,
        note: basket.basket.length ? "How probable each is in it, and how many times as probable as overall." : null,
        aside: ({ lift }) => (basket.basket.length + basket.absent.length ? times(lift) : ""),
        act: add(event, "present"),
      });
      const change = ({ probability }) => times(probability / influences.probability);
      const act = add(event, "given");
      const note = "How probable it is given each of these too, and how many times as probable as now.";
      const none = isAsked ? "Nothing does." : "Nothing is asked yet.";
      drawList(raises, "Raises it most", { rows: influences.raises, aside: change, act, verb: "Given", none, note });
      drawList(lowers, "Lowers it most", { rows: influences.lowers, aside: change, act, verb: "Given", none, note });
    },
  });

  return {
    element,
    update: (params) => {
      const event = eventOf(params);
      for (const picker of pickers) picker.set(event[picker.name]);
      return refresh(params);
    },
  };
}

function invitation() {
  return h("p", { class: "empty" }, "Pick an item that is present or absent to see how probable it is, and what changes that.");
}

/** What is asked, in parts: words, and names as `named` makes them. */
function questionParts(event, named) {
  const side = (present, absent) =>
    [...present.map((name) => [named(name)]), ...absent.map((name) => ["no ", named(name)])].flatMap((parts, at) =>
      at === 0 ? parts : [", ", ...parts],
    );
  const condition = side(event.given, event.given_absent);
  return [...side(event.present, event.absent), ...(condition.length ? [", given ", ...condition] : [])];
}

function drawnAnswer(about, answer, event) {
  const interval =
    answer.lower === undefined
      ? "The model has no posterior, and so no interval."
      : `between ${percent(answer.lower)} and ${percent(answer.upper)} with a probability of ${percent(answer.level, 0)}`;
  return [
    h("h2", {}, "Probability of ", questionParts(event, itemName)),
    h("p", {}, h("span", { class: "figure" }, percent(answer.probability))),
    h("p", { class: "soft" }, interval),
    answer.lower === undefined ? null : doubts(about),
    comparison(about, answer),
  ].filter(Boolean);
}

/** Bars of the answer and of what it can be compared with, on one scale. */
function comparison(about, answer) {
  const rows = [["Model", answer.probability, answer.lower ?? null, answer.upper ?? null]];
  if (answer.independent === answer.unconditional) {
    rows.push(["Without the condition, or independent of it", answer.independent, null, null]); // of a single item
  } else {
    if (answer.unconditional !== undefined) rows.push(["Without the condition", answer.unconditional, null, null]);
    rows.push(["If items were independent", answer.independent, null, null]);
  }
  const counted = [
    [answer.data, `In the ${dataName(about).toLowerCase()}`],
    [answer.test, "In the test data"],
  ];
  for (const [found, label] of counted) {
    if (found && found.probability !== null) rows.push([`${label} (${count(found.count)} of ${count(found.of)})`, found.probability, null, null]);
  }
  const most = Math.max(...rows.map(([, value, , upper]) => Math.max(value, upper ?? 0)), 1e-12);
  const cells = rows.flatMap(([label, value, lower, upper]) => [
    h("span", {}, label),
    rangeBar({ value, lower, upper, most }),
    h("span", { class: "number" }, percent(value)),
  ]);
  const none = answer.data && answer.data.probability === null ? "No transaction of the data meets the condition." : null;
  return h("div", {}, h("div", { class: "comparison" }, cells), none ? h("p", { class: "soft small" }, none) : null);
}

/** A list of items with a probability each, and a button that adds one to the question. */
function drawList(place, heading, { rows, aside, act, verb = "Add", none = "Nothing more.", note = null }) {
  const entries = rows.map((row) =>
    h(
      "li",
      {},
      itemName(row.item),
      h("span", { class: "number" }, percent(row.probability), h("span", { class: "soft small" }, `  ${aside(row)}`)),
      h("button", { type: "button", "aria-label": `${verb} ${textOf(row.item)}`, click: () => act(row.item) }, verb),
    ),
  );
  const body = entries.length ? h("ul", { class: "plain-list" }, entries) : h("p", { class: "soft" }, none);
  const explained = entries.length && note ? h("p", { class: "soft small" }, note) : null;
  refill(place, h("h2", {}, heading), explained, body);
}
