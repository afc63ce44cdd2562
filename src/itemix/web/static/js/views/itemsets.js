// Itemsets: move the threshold and see which sets are at least as probable.
import { latest } from "../api.js";
import { h } from "../dom.js";
import { columnDecimals, count, percent, plural, thresholdText, times } from "../format.js";
import { rangeBar } from "../parts/bars.js";
import { downloads } from "../parts/downloads.js";
import { rangeFields, segments, textField } from "../parts/fields.js";
import { histogram } from "../parts/histogram.js";
import { noticePlace, shownWork } from "../parts/notice.js";
import { itemPicker } from "../parts/picker.js";
import { itemset } from "../parts/sets.js";
import { logSlider } from "../parts/slider.js";
import { pager, table } from "../parts/table.js";

export const title = "Itemsets";

const PAGE = 50;
const TARGETS = [
  ["all", "All"],
  ["closed", "Closed"],
  ["maximal", "Maximal"],
];

/** Read from the address what is asked for. */
function questionOf(params, about) {
  return {
    min_support: params.get("min_support") ?? about.first_min_support,
    target: params.get("target"),
    min_len: params.get("min_len"),
    max_len: params.get("max_len"),
    include: params.getAll("include"),
    exclude: params.getAll("exclude"),
    search: params.get("search"),
    sort: params.get("sort"),
    order: params.get("order"),
  };
}

export function create(page) {
  const { about } = page;
  // Whatever changes which sets there are leads back to the first page.
  const choose = (changes) => page.change({ ...changes, offset: null });
  const find = (search, limit) => page.ask("items", { search, limit });

  const total = h("p", { class: "count" });
  const notice = noticePlace();
  const controls = {
    threshold: logSlider({
      label: "Least support",
      low: about.lowest_min_support,
      high: 1,
      unit: "%",
      factor: 100,
      onChange: (value) => choose({ min_support: value }),
    }),
    search: textField({ label: "Search", placeholder: "Part of a name", onChange: (search) => choose({ search }) }),
    include: itemPicker({ label: "With", find, onChange: (include) => choose({ include }) }),
    exclude: itemPicker({ label: "Without", find, onChange: (exclude) => choose({ exclude }) }),
    lengths: rangeFields({
      label: "Items in a set",
      onChange: (side, value) => choose({ [side === "least" ? "min_len" : "max_len"]: value }),
    }),
    target: segments({ label: "Which", options: TARGETS, onChange: (target) => choose({ target: target === "all" ? null : target }) }),
  };
  const itemsets = resultsTable(page, choose);
  const pages = pager({ onMove: (offset) => page.change({ offset: offset || null }) });
  const bySupport = histogram({ label: "Itemsets by support" });
  const byLength = histogram({ label: "Itemsets by number of items" });
  const files = downloads(page, "itemsets");
  const results = h(
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

  const element = h(
    "div",
    { class: "view" },
    h("div", { class: "intro" }, h("div", {}, h("h1", {}, title), h("p", {}, introduction(about))), files.element),
    h(
      "section",
      { class: "card view", "aria-label": "Which itemsets" },
      total,
      controls.threshold.element,
      h(
        "div",
        { class: "filters" },
        ["search", "include", "exclude", "lengths", "target"].map((name) => controls[name].element),
      ),
    ),
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
    files.set(question);
  }

  const refresh = latest((params) =>
    shownWork(
      notice,
      results,
      async () => {
        const question = questionOf(params, about);
        const offset = Number(params.get("offset") ?? 0);
        const { answer, said } = await atPossibleThreshold({ ...question, offset, limit: PAGE });
        draw(answer, question, offset);
        return said;
      },
      [total],
    ),
  );

  /** Ask; where the threshold is too low, say so and ask at the lowest that is possible. */
  async function atPossibleThreshold(question) {
    try {
      return { answer: await page.ask("itemsets", question), said: null };
    } catch (error) {
      if (error.lowest === null || error.lowest === undefined) throw error;
      controls.threshold.setLowest(error.lowest);
      const said =
        `At ${thresholdText(Number(question.min_support))} there are more than ${count(about.max_itemsets)} itemsets. ` +
        `Shown are those from ${thresholdText(error.lowest)}, the lowest threshold that is possible.`;
      return { answer: await page.ask("itemsets", { ...question, min_support: error.lowest }), said };
    }
  }

  function draw(answer, question, offset) {
    const kind = question.target ? `${question.target} itemset` : "itemset";
    files.set({ ...question, min_support: answer.min_support });
    total.textContent = plural(answer.n_itemsets, kind);
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
      refresh(params);
    },
  };
}

function introduction(about) {
  const data = about.n_transactions === null ? "" : " The mark across a bar is the support in the data.";
  const interval = about.has_intervals ? " The line in a bar is its 90% interval." : "";
  return `The sets of items that the model expects in at least so many transactions.${interval}${data}`;
}

function resultsTable(page, choose) {
  const { about } = page;
  let scale = { most: 1, decimals: 2 };
  const columns = [
    { label: "Itemset", class: "wide", cell: (row) => itemset(row.items, page.href("ask", { present: row.items })) },
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
          most: scale.most,
        }),
    },
    { label: "Lift", sort: "lift", class: "number", cell: (row) => (row.items.length > 1 ? times(row.lift) : "") },
  ];
  if (about.n_transactions !== null) {
    const exact = { label: "In the data", class: "number", cell: (row) => percent(row.exact, scale.decimals) };
    columns.splice(4, 0, exact);
  }
  const drawn = table({
    caption: "Itemsets with their support",
    columns: () => columns,
    onSort: (sort, order) => choose({ sort, order: order === "descending" ? null : order }),
    empty: "No itemset is this probable. Move the threshold to the left, or take a filter away.",
  });
  return {
    element: drawn.element,
    draw: (answer, question) => {
      const rows = answer.itemsets;
      const ends = rows.map((row) => Math.max(row.upper ?? row.support, row.exact ?? 0));
      scale = { most: Math.max(...ends, 1e-12), decimals: columnDecimals(answer.min_support) };
      drawn.draw(rows, { sort: question.sort ?? "support", order: question.order ?? "descending" });
    },
  };
}
