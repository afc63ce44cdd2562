// Surprises: which sets new data holds more often, or less often, than the model allows.
import { h } from "../dom.js";
import { columnDecimals, count, percent, plural, thresholdText, times } from "../format.js";
import { contrast } from "../parts/contrast.js";
import { downloads } from "../parts/downloads.js";
import { segments } from "../parts/fields.js";
import { filters } from "../parts/filters.js";
import { head } from "../parts/head.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemPicker } from "../parts/picker.js";
import { itemset } from "../parts/sets.js";
import { pageAt, pager, table } from "../parts/table.js";
import { thresholdOf, thresholdSlider } from "../parts/threshold.js";

export const title = "Surprises";

const PAGE = 50;
const POINTS = 1000;
const LEVEL = 0.05;
const WORDS = { more: "more often than expected", less: "less often", onLine: "On the line are sets that are as frequent as expected." };

function questionOf(params, about) {
  return {
    min_support: thresholdOf(params, about),
    level: params.get("level"),
    side: params.get("side"),
    include: params.getAll("items"),
    box: params.getAll("box"),
    sort: params.get("sort"),
    order: params.get("order"),
  };
}

export function create(page) {
  const { about } = page;
  const choose = (changes, how) => page.change({ ...changes, offset: null }, how);
  const find = (search, limit) => page.ask("items", { search, limit });
  const total = h("p", { class: "count" });
  const tested = h("p", { class: "soft" });
  const notice = noticePlace();
  const controls = {
    threshold: thresholdSlider(page, "Least support, seen or expected"),
    side: segments({
      label: "Which",
      options: [
        ["both", "Both"],
        ["more", "More often"],
        ["less", "Less often"],
      ],
      onChange: (side) => choose({ side: side === "both" ? null : side }),
    }),
    level: segments({
      label: "False finds, at most (q)",
      options: [
        ["0.01", "1%"],
        ["0.05", "5%"],
        ["0.2", "20%"],
        ["1", "Show all"],
      ],
      onChange: (level) => choose({ level: Number(level) === LEVEL ? null : level }),
    }),
    include: itemPicker({ label: "With", find, onChange: (items) => choose({ items }), isShownAbove: true }),
  };
  const surprises = surprisesTable(page, choose);
  const pages = pager({ onMove: (offset) => page.change({ offset: offset || null }) });
  const picture = contrast(page, { name: "surprises", across: "expected support", up: "support in the data", noun: "set", ...WORDS });
  const files = downloads(page, "surprises");
  const results = h(
    "div",
    { class: "with-side half-side" },
    h("section", { class: "card", "aria-label": "Surprises" }, surprises.element, pages.element),
    h("div", { class: "side" }, h("section", { class: "card" }, h("h2", {}, "Seen and expected"), picture.element)),
  );
  const element = h(
    "div",
    { class: "view" },
    head(title, introduction(about), files.element),
    h(
      "section",
      { class: "card controls", "aria-label": "Which surprises" },
      h("div", { class: "threshold" }, h("div", {}, total, tested), controls.threshold.element),
      filters(controls.side.element, controls.level.element, controls.include.element),
    ),
    notice.element,
    results,
  );

  function showControls(question) {
    controls.threshold.set(Number(question.min_support));
    controls.side.set(question.side ?? "both");
    controls.level.set(question.level ?? String(LEVEL));
    controls.include.set(question.include);
    files.set(question);
  }

  const refresh = worker({
    notice,
    dimmed: results,
    others: [total, tested],
    work: async (params) => {
      const question = questionOf(params, about);
      const offset = Number(params.get("offset") ?? 0);
      const { answer, said } = await controls.threshold
        .askAt("surprises", { ...question, offset, limit: PAGE, points: POINTS })
        .catch(explain);
      if (pageAt(page, offset, PAGE, answer.n_surprises)) return null;
      const noun = answer.level < 1 ? "surprise" : "tested set";
      total.textContent = plural(answer.n_surprises, noun);
      tested.textContent = `of ${plural(answer.n_tested, "set")} from ${thresholdText(answer.min_support)} that were tested in ${plural(answer.n_transactions, "transaction")}`;
      page.announce(`${total.textContent} ${tested.textContent}`);
      files.set({ ...question, min_support: answer.min_support });
      surprises.draw(answer, question);
      pages.draw(offset, PAGE, answer.n_surprises);
      picture.draw(pointsOf(page, answer), answer.n_tested, answer.level < 1 ? answer.level : LEVEL, question.box.map(Number));
      return said;
    },
  });

  /** Where there is nothing to test the model on, say how to get there. */
  function explain(error) {
    if (error.code !== "invalid_request" || about.n_test !== null || about.n_transactions === null) throw error;
    throw new Error(`${error.message}; or start itemix explore with --test and a file of new transactions`);
  }

  return {
    element,
    update: (params) => {
      const question = questionOf(params, about);
      showControls(question);
      return refresh(params);
    },
  };
}

function introduction(about) {
  const where = about.n_test === null ? "data that the model has not seen" : `the ${count(about.n_test)} transactions of the test data`;
  return (
    `Sets of items that come more often, or less often, in ${where} than the model allows, by more than chance and its ` +
    "own uncertainty explain. Of all finds, at most the share q is false."
  );
}

function pointsOf(page, { points }) {
  return points.itemsets.map((names, at) => ({
    names,
    x: points.expected[at],
    y: points.support[at],
    q: points.q_value[at],
    text: `${percent(points.support[at])} where ${percent(points.expected[at])} are expected, q = ${percent(points.q_value[at])}`,
  }));
}

function surprisesTable(page, choose) {
  let decimals = 2;
  const columns = [
    { label: "Itemset", class: "wide", cell: (row) => itemset(row.items, page.hrefOfSet(row.items)) },
    { label: "Seen", sort: "count", class: "number", cell: (row) => percent(row.support, decimals) },
    { label: "Expected", sort: "expected", class: "number", cell: (row) => percent(row.expected, decimals) },
    {
      label: "90% interval",
      class: "number on-wide-screens",
      cell: (row) => `${percent(row.lower, decimals)} to ${percent(row.upper, decimals)}`,
    },
    { label: "Ratio", sort: "ratio", class: "number", cell: (row) => `${row.ratio > 1 ? "▲" : "▼"} ${times(row.ratio)}` },
    { label: "q", sort: "q_value", class: "number", cell: (row) => percent(row.q_value) },
  ];
  const drawn = table({
    caption: "Sets with their support and the expected one",
    columns: () => columns,
    onSort: (sort, order) => choose({ sort, order }),
  });
  return {
    element: drawn.element,
    draw: (answer, question) => {
      decimals = columnDecimals(answer.min_support);
      const sort = question.sort ?? "q_value";
      drawn.draw(answer.surprises, { sort, order: question.order ?? (sort === "q_value" ? "ascending" : "descending"), empty: emptyText(question) });
    },
  };
}

function emptyText({ include }) {
  if (include.length) return "No set with these items contradicts the model. Take one away, or lower the least support to test more sets.";
  return "Nothing contradicts the model. Lower the least support to test more sets.";
}
