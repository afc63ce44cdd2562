// Itemsets: move the threshold and see which sets are at least as probable.
import { h } from "../dom.js";
import { columnDecimals, percent, plural, thresholdText, times } from "../format.js";
import { agreement } from "../parts/agreement.js";
import { rangeBar } from "../parts/bars.js";
import { dataName, doubts, supportColumns } from "../parts/doubts.js";
import { downloads } from "../parts/downloads.js";
import { rangeFields, segments, textField } from "../parts/fields.js";
import { filters } from "../parts/filters.js";
import { head } from "../parts/head.js";
import { histogram } from "../parts/histogram.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemPicker } from "../parts/picker.js";
import { itemset } from "../parts/sets.js";
import { pageAt, pager, table } from "../parts/table.js";
import { thresholdOf, thresholdSlider } from "../parts/threshold.js";

export const title = "Itemsets";

const PAGE = 50;
const TARGETS = [
  ["all", "All"],
  ["closed", "Closed"],
  ["maximal", "Maximal"],
];

/** Return what is asked for. */
function questionOf(params, about) {
  return {
    min_support: thresholdOf(params, about),
    target: params.get("target"),
    min_len: params.get("min_len"),
    max_len: params.get("max_len"),
    include: params.getAll("items"),
    exclude: params.getAll("without"),
    search: params.get("search"),
    sort: params.get("sort"),
    order: params.get("order"),
  };
}

export function create(page) {
  const { about } = page;
  // Whatever changes which sets there are leads back to the first page.
  const choose = (changes, how) => page.change({ ...changes, offset: null }, how);
  const find = (search, limit) => page.ask("items", { search, limit });

  const total = h("p", { class: "count" });
  const at = h("p", { class: "soft" });
  const notice = noticePlace();
  const controls = {
    threshold: thresholdSlider(page),
    search: textField({ label: "Search", placeholder: "Part of a name", onChange: (search) => choose({ search }, { control: "search" }) }),
    include: itemPicker({ label: "With", find, onChange: (items) => choose({ items }), isShownAbove: true }),
    exclude: itemPicker({ label: "Without", find, onChange: (without) => choose({ without }), isShownAbove: true }),
    lengths: rangeFields({
      label: "Items in a set",
      onChange: (side, value) => choose({ [side === "least" ? "min_len" : "max_len"]: value }, { control: side }),
    }),
    show: segments({
      label: "Show",
      options: [
        ["table", "Table"],
        ["agreement", "Model and data"],
      ],
      onChange: (show) => page.change({ show: show === "table" ? null : show }),
    }),
    target: segments({ label: "Which", options: TARGETS, onChange: (target) => choose({ target: target === "all" ? null : target }) }),
  };
  const itemsets = resultsTable(page, choose);
  const pages = pager({ onMove: (offset) => page.change({ offset: offset || null }) });
  const bySupport = histogram({ label: "Itemsets by support" });
  const byLength = histogram({ label: "Itemsets by number of items" });
  const files = downloads(page, "itemsets");
  const canAgree = about.n_transactions !== null || about.n_test !== null;
  const agreeing = agreement(page);
  const listing = h(
    "div",
    { class: "with-side" },
    h("section", { class: "card", "aria-label": "Itemsets" }, itemsets.element, pages.element),
    h(
      "div",
      { class: "side" },
      h("section", { class: "card" }, h("h2", {}, "By support"), bySupport.element),
      h("section", { class: "card" }, h("h2", {}, "By number of items"), byLength.element),
    ),
  );

  const results = h("div", {}, listing, agreeing.element);
  const element = h(
    "div",
    { class: "view" },
    head(title, introduction(about), files.element),
    h(
      "section",
      { class: "card controls", "aria-label": "Which itemsets" },
      h("div", { class: "threshold" }, h("div", {}, total, at), controls.threshold.element),
      filters(["search", "include", "exclude", "lengths", "target", ...(canAgree ? ["show"] : [])].map((name) => controls[name].element)),
    ),
    about.has_intervals ? doubts(about) : null,
    notice.element,
    results,
  );

  function showControls(params, question) {
    controls.threshold.set(Number(question.min_support));
    controls.search.set(question.search ?? "");
    controls.include.set(question.include);
    controls.exclude.set(question.exclude);
    controls.lengths.set("least", question.min_len);
    controls.lengths.set("most", question.max_len);
    controls.target.set(question.target ?? "all");
    controls.show.set(params.get("show") ?? "table");
    files.set(question);
  }

  const refresh = worker({
    notice,
    dimmed: results,
    others: [total, at],
    work: async (params) => {
      const question = questionOf(params, about);
      const offset = Number(params.get("offset") ?? 0);
      const { answer, said } = await controls.threshold.askAt("itemsets", { ...question, offset, limit: PAGE });
      if (pageAt(page, offset, PAGE, answer.n_itemsets)) return null;
      draw(answer, question, offset);
      const isAgreement = canAgree && params.get("show") === "agreement";
      listing.hidden = isAgreement;
      agreeing.element.hidden = !isAgreement;
      if (isAgreement) {
        const called = about.n_test === null ? dataName(about).toLowerCase() : "test data";
        agreeing.draw(await page.ask("agreement", { ...question, min_support: answer.min_support }), called);
      }
      return said;
    },
  });

  function draw(answer, question, offset) {
    const kind = question.target ? `${question.target} itemset` : "itemset";
    files.set({ ...question, min_support: answer.min_support });
    total.textContent = plural(answer.n_itemsets, kind);
      at.textContent = `from ${thresholdText(answer.min_support)}`;
    page.announce(`${plural(answer.n_itemsets, kind)} with a support of at least ${percent(answer.min_support)}`);
    itemsets.draw(answer, question);
    pages.draw(offset, PAGE, answer.n_itemsets);
    const supports = answer.supports.map((bin) => ({
      count: bin.count,
      title: `${percent(bin.from)} to ${percent(bin.to)}`,
    }));
    bySupport.draw(supports, thresholdText(answer.min_support), "100%");
    const lengths = answer.lengths.map((bin) => ({ count: bin.count, title: plural(bin.length, "item") }));
    byLength.draw(lengths, lengths.length ? "1" : "", lengths.length > 1 ? String(lengths.length) : "");
  }

  return {
    element,
    update: (params) => {
      showControls(params, questionOf(params, about));
      return refresh(params);
    },
  };
}

function introduction(about) {
  const marks = [about.has_intervals ? "the line in a bar is its 90% interval" : "", about.n_transactions === null ? "" : `the mark across it the support in the ${dataName(about).toLowerCase()}`];
  const said = marks.filter(Boolean).join(", ");
  return `Sets of items that the model expects at least so often${said ? `; ${said}` : ""}.`;
}

function resultsTable(page, choose) {
  const { about } = page;
  let scale = { most: 1, decimals: 2 };
  const columns = [
    { label: "Itemset", class: "wide", cell: (row) => itemset(row.items, page.hrefOfSet(row.items)) },
    { label: "Items", sort: "length", class: "number on-wide-screens", cell: (row) => row.items.length },
    { label: "Support", sort: "support", class: "number", cell: (row) => percent(row.support, scale.decimals) },
    {
      label: h("span", { class: "visually-hidden" }, "Support as a bar"),
      class: "bar-cell",
      cell: (row) =>
        rangeBar({
          value: row.support,
          lower: row.lower ?? null,
          upper: row.upper ?? null,
          exact: row.exact ?? null,
          exactName: `in the ${dataName(about).toLowerCase()}`,
          most: scale.most,
        }),
    },
    { label: "Lift", sort: "lift", class: "number", cell: (row) => (row.items.length > 1 ? times(row.lift) : "") },
  ];
  columns.splice(4, 0, ...supportColumns(about, (support) => percent(support, scale.decimals)));
  const drawn = table({
    caption: "Itemsets with their support",
    columns: () => columns,
    onSort: (sort, order) => choose({ sort, order: order === "descending" ? null : order }),
  });
  return {
    element: drawn.element,
    draw: (answer, question) => {
      const rows = answer.itemsets;
      const ends = rows.map((row) => Math.max(row.upper ?? row.support, row.exact ?? 0));
      scale = { most: Math.max(...ends, 1e-12), decimals: columnDecimals(answer.min_support) };
      drawn.draw(rows, { sort: question.sort ?? "support", order: question.order ?? "descending", empty: emptyText(question) });
    },
  };
}

/** Say what found nothing: the threshold only where nothing else was asked for. */
function emptyText(question) {
  const at = `from ${thresholdText(Number(question.min_support))}`;
  if (question.search) return `No itemset ${at} has “${question.search}” in its names.`;
  if (question.include.length + question.exclude.length > 0) return `No itemset ${at} has these items and lacks those. Take one away, or lower the least support.`;
  if (question.min_len || question.max_len) return `No itemset ${at} has so many items.`;
  return `No itemset is this probable. Lower the least support.`;
}
