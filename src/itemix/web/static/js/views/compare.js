// Compare: which sets are more frequent in one of two data sets.
import { h } from "../dom.js";
import { columnDecimals, count, percent, plural, thresholdText, times } from "../format.js";
import { contrast } from "../parts/contrast.js";
import { downloads } from "../parts/downloads.js";
import { segments } from "../parts/fields.js";
import { filters } from "../parts/filters.js";
import { head } from "../parts/head.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemset } from "../parts/sets.js";
import { pageAt, pager, table } from "../parts/table.js";
import { thresholdOf, thresholdSlider } from "../parts/threshold.js";

export const title = "Compare";

const PAGE = 50;
const POINTS = 1000;
const LEVEL = 0.05;
const WORDS = {
  more: "more often in the test data",
  less: "less often",
  onLine: "On the line are sets that are as frequent in both; what one of the two does not hold lies on the edge.",
};

function questionOf(params, about) {
  return {
    min_support: thresholdOf(params, about),
    side: params.get("side"),
    explained: params.get("explained"),
    box: params.getAll("box"),
    sort: params.get("sort"),
    order: params.get("order"),
  };
}

export function create(page) {
  const { about } = page;
  const choose = (changes, how) => page.change({ ...changes, offset: null }, how);
  const total = h("p", { class: "count" });
  const tested = h("p", { class: "soft" });
  const notice = noticePlace();
  const controls = {
    threshold: thresholdSlider(page, "Least support in one of the two"),
    side: segments({
      label: "Which",
      options: [
        ["both", "Both"],
        ["more", "More often"],
        ["less", "Less often"],
      ],
      onChange: (side) => choose({ side: side === "both" ? null : side }),
    }),
    explained: segments({
      label: "Sets that a part of them explains",
      options: [
        ["false", "Leave out"],
        ["true", "Show"],
      ],
      onChange: (explained) => choose({ explained: explained === "true" ? explained : null }),
    }),
  };
  const differences = differencesTable(page, choose);
  const pages = pager({ onMove: (offset) => page.change({ offset: offset || null }) });
  const picture = contrast(page, { name: "compare", across: "support in the data", up: "support in the test data", noun: "set", ...WORDS });
  const files = downloads(page, "compare");
  const shifts = shiftsTable();
  const shiftsNote = h("p", { class: "soft" });
  const results = h(
    "div",
    { class: "view" },
    h(
      "div",
      { class: "with-side half-side" },
      h("section", { class: "card", "aria-label": "Differences" }, differences.element, pages.element),
      h("div", { class: "side" }, h("section", { class: "card" }, h("h2", {}, "The two supports"), picture.element)),
    ),
    h("section", { class: "card" }, h("h2", {}, "Kinds of transactions"), shiftsNote, shifts.element),
  );
  const element = h(
    "div",
    { class: "view" },
    head(title, introduction(about), files.element),
    h(
      "section",
      { class: "card controls", "aria-label": "Which differences" },
      h("div", { class: "threshold" }, h("div", {}, total, tested), controls.threshold.element),
      filters(controls.side.element, controls.explained.element),
    ),
    notice.element,
    results,
  );

  const refresh = worker({
    notice,
    dimmed: results,
    others: [total, tested],
    work: async (params) => {
      const question = questionOf(params, about);
      const offset = Number(params.get("offset") ?? 0);
      const { answer, said } = await controls.threshold.askAt("compare", { ...question, offset, limit: PAGE });
      if (pageAt(page, offset, PAGE, answer.n_differences)) return null;
      const most = { ...question, min_support: answer.min_support, box: [], sort: null, order: null, limit: POINTS };
      const drawn = await page.ask("compare", most);
      total.textContent = plural(answer.n_differences, "difference");
      tested.textContent = `of ${plural(answer.n_tested, "set")} from ${thresholdText(answer.min_support)} that were tested`;
      page.announce(`${total.textContent} ${tested.textContent}`);
      files.set({ ...question, min_support: answer.min_support });
      differences.draw(answer, question);
      pages.draw(offset, PAGE, answer.n_differences);
      picture.draw(drawn.differences.map((row) => pointOf(page, row)), drawn.n_differences, LEVEL, question.box.map(Number));
      return said;
    },
  });

  let asked = false;

  /** One mixture is fitted to both, which may take a while, and once is enough. */
  async function showShifts() {
    if (asked) return;
    asked = true;
    shiftsNote.textContent = "One mixture is being fitted to both.";
    try {
      const answer = await page.ask("shifts", {});
      shiftsNote.textContent =
        `Of ${plural(answer.n_tested, "component")} of one mixture of both, those that hold a larger share of one of the two, ` +
        "by more than chance.";
      shifts.draw(answer.shifts, {});
    } catch (error) {
      asked = false;
      shiftsNote.textContent = error.message;
    }
  }

  return {
    element,
    update: (params) => {
      const question = questionOf(params, about);
      controls.threshold.set(Number(question.min_support));
      controls.side.set(question.side ?? "both");
      controls.explained.set(question.explained ?? "false");
      files.set(question);
      showShifts();
      return refresh(params);
    },
  };
}

function introduction(about) {
  const sizes = about.n_test === null || about.n_transactions === null ? "" : `, ${count(about.n_transactions)} and ${count(about.n_test)} transactions`;
  return `Sets of items that are more frequent in one of two data sets, the data and the test data${sizes}. Of all finds, at most 5% are false.`;
}

/** A set with an item that the model does not know has no address to go to. */
function hrefOf(page, row) {
  return row.is_known ? page.hrefOfSet(row.items) : null;
}

function pointOf(page, row) {
  return {
    names: row.items,
    x: row.support_a,
    y: row.support_b,
    q: row.q_value,
    text: `${percent(row.support_a)} in the data, ${percent(row.support_b)} in the test data, q = ${percent(row.q_value)}`,
    isKnown: row.is_known,
  };
}

function ratioText({ change, ratio }) {
  if (change === "new" || change === "lost") return `${change === "new" ? "▲" : "▼"} ${change}`;
  return `${change === "more" ? "▲" : "▼"} ${times(ratio)}`;
}

function shiftsTable() {
  return table({
    caption: "Components with their share of both",
    columns: () => [
      { label: "Mostly", class: "wide", cell: (row) => row.mostly },
      { label: "Data", class: "number", cell: (row) => percent(row.share_a) },
      { label: "Test data", class: "number", cell: (row) => percent(row.share_b) },
      { label: "Ratio", class: "number", cell: shareText },
      { label: "q", class: "number", cell: (row) => percent(row.q_value) },
    ],
    empty: "No component has another share by more than chance.",
  });
}

function shareText({ share_a, share_b, ratio }) {
  if (share_a === 0 || share_b === 0) return share_a === 0 ? "▲ new" : "▼ lost";
  return `${ratio > 1 ? "▲" : "▼"} ${times(ratio)}`;
}

function differencesTable(page, choose) {
  let decimals = 2;
  const columns = [
    { label: "Itemset", class: "wide", cell: (row) => itemset(row.items, hrefOf(page, row)) },
    { label: "Data", sort: "support_a", class: "number", cell: (row) => percent(row.support_a, decimals) },
    { label: "Test data", sort: "support_b", class: "number", cell: (row) => percent(row.support_b, decimals) },
    { label: "Ratio", sort: "ratio", class: "number", cell: ratioText },
    { label: "q", sort: "q_value", class: "number", cell: (row) => percent(row.q_value) },
  ];
  const drawn = table({
    caption: "Sets with their support in both",
    columns: () => columns,
    onSort: (sort, order) => choose({ sort, order }),
    empty: "Nothing differs by more than chance. Lower the least support to test more sets.",
  });
  return {
    element: drawn.element,
    draw: (answer, question) => {
      decimals = columnDecimals(answer.min_support);
      const sort = question.sort ?? "q_value";
      drawn.draw(answer.differences, { sort, order: question.order ?? (sort === "q_value" ? "ascending" : "descending") });
    },
  };
}
