// Rules: what follows from what, by any measure.
import { h } from "../dom.js";
import { columnDecimals, measure, percent, plural, thresholdText, times } from "../format.js";
import { downloads } from "../parts/downloads.js";
import { numberField, segments, selectField } from "../parts/fields.js";
import { filters } from "../parts/filters.js";
import { head } from "../parts/head.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemPicker } from "../parts/picker.js";
import { ruleGraph } from "../parts/rulegraph.js";
import { scatter } from "../parts/scatter.js";
import { itemset } from "../parts/sets.js";
import { pageAt, pager, table } from "../parts/table.js";
import { thresholdOf, thresholdSlider } from "../parts/threshold.js";

export const title = "Rules";

const PAGE = 50;
const POINTS = 1000;
const ALWAYS_SHOWN = ["support", "confidence", "lift"];
const MEASURES = [
  ["lift", "Lift"],
  ["confidence", "Confidence"],
  ["support", "Support"],
  ["leverage", "Leverage"],
  ["conviction", "Conviction"],
  ["zhangs_metric", "Zhang’s metric"],
  ["jaccard", "Jaccard"],
  ["certainty", "Certainty"],
  ["kulczynski", "Kulczynski"],
  ["cosine", "Cosine"],
  ["odds_ratio", "Odds ratio"],
  ["phi", "Phi"],
  ["mutual_information", "Mutual information"],
  ["difference_of_confidence", "Difference of confidence"],
  ["imbalance_ratio", "Imbalance ratio"],
  ["representativity", "Representativity"],
  ["antecedent support", "Antecedent support"],
  ["consequent support", "Consequent support"],
];
const METRICS = MEASURES.filter(([name]) => name !== "imbalance_ratio");

function questionOf(params, about) {
  return {
    min_support: thresholdOf(params, about),
    items: params.getAll("items"),
    without: params.getAll("without"),
    metric: params.get("metric"),
    min_threshold: params.get("min_threshold"),
    left: params.getAll("left"),
    right: params.getAll("right"),
    max_left: params.get("max_left"),
    max_right: params.get("max_right"),
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
  const at = h("p", { class: "soft" });
  const notice = noticePlace();
  const controls = {
    threshold: thresholdSlider(page),
    items: itemPicker({ label: "With", find, onChange: (items) => choose({ items }), isShownAbove: true }),
    metric: selectField({ label: "Select by", options: METRICS, onChange: (metric) => choose({ metric }) }),
    least: numberField({ label: "Least value of it", placeholder: "0.2", onChange: (value) => choose({ min_threshold: value }, { control: "least" }) }),
    left: itemPicker({ label: "If there is", find, onChange: (left) => choose({ left }) }),
    right: itemPicker({ label: "Then there is", find, onChange: (right) => choose({ right }) }),
    maxRight: numberField({
      label: "Most items that follow",
      min: 1,
      step: 1,
      placeholder: "1",
      onChange: (value) => choose({ max_right: value }, { control: "right" }),
    }),
    picture: segments({
      label: "Picture",
      options: [
        ["scatter", "Scatter"],
        ["graph", "Graph"],
      ],
      onChange: (picture) => page.change({ picture: picture === "scatter" ? null : picture }),
    }),
    sort: selectField({ label: "Sort by", options: MEASURES, onChange: (sort) => choose({ sort, order: null }) }),
  };
  const rules = rulesTable(page, choose);
  const pages = pager({ onMove: (offset) => page.change({ offset: offset || null }) });
  const cloud = scatter(page);
  const graph = ruleGraph(page);
  const files = downloads(page, "rules");
  const results = h(
    "div",
    { class: "with-side half-side" },
    h("section", { class: "card", "aria-label": "Rules" }, rules.element, pages.element),
    h("div", { class: "side" }, h("section", { class: "card", "aria-label": "The picture" }, controls.picture.element, cloud.element, graph.element)),
  );
  const element = h(
    "div",
    { class: "view" },
    head(title, "Transactions with some items tend to hold others too: how surely, and how much more often than usual.", files.element),
    h(
      "section",
      { class: "card controls", "aria-label": "Which rules" },
      h("div", { class: "threshold" }, h("div", {}, total, at), controls.threshold.element),
      filters(["items", "left", "right", "metric", "least", "maxRight", "sort"].map((name) => controls[name].element)),
    ),
    notice.element,
    results,
  );

  function showControls(question) {
    controls.threshold.set(Number(question.min_support));
    controls.metric.set(question.metric ?? "confidence");
    controls.least.set(question.min_threshold);
    controls.items.set(question.items);
    controls.left.set(question.left);
    controls.right.set(question.right);
    controls.maxRight.set(question.max_right);
    controls.sort.set(question.sort ?? "lift");
    files.set(question);
  }

  const refresh = worker({
    notice,
    dimmed: results,
    others: [total, at],
    work: async (params) => {
      const question = questionOf(params, about);
      const offset = Number(params.get("offset") ?? 0);
      const { answer, said } = await controls.threshold.askAt("rules", { ...question, offset, limit: PAGE, points: POINTS });
      if (pageAt(page, offset, PAGE, answer.n_rules)) return null;
      total.textContent = plural(answer.n_rules, "rule");
      at.textContent = `from ${thresholdText(answer.min_support)}`;
      page.announce(`${plural(answer.n_rules, "rule")} with a support of at least ${percent(answer.min_support)}`);
      files.set({ ...question, min_support: answer.min_support });
      rules.draw(answer, question);
      pages.draw(offset, PAGE, answer.n_rules);
      const isGraph = params.get("picture") === "graph";
      controls.picture.set(isGraph ? "graph" : "scatter");
      cloud.element.hidden = isGraph;
      graph.element.hidden = !isGraph;
      if (isGraph) graph.draw(answer.rules);
      else cloud.draw(answer.points, answer.n_rules, question.box.map(Number));
      return said;
    },
  });

  return {
    element,
    update: (params) => {
      showControls(questionOf(params, about));
      return refresh(params);
    },
  };
}

function rulesTable(page, choose) {
  const { about } = page;
  let sorted = "lift";
  let decimals = 2;
  const columns = () => {
    const shown = [
      {
        label: "Rule",
        class: "wide widest",
        cell: (row) => ruleText(row, page.hrefOfSet(row.antecedents, row.consequents)),
      },
      { label: "Support", sort: "support", class: "number", cell: (row) => percent(row.support, decimals) },
      { label: "Confidence", sort: "confidence", class: "number", cell: (row) => percent(row.confidence, 1) },
      { label: "Lift", sort: "lift", class: "number", cell: (row) => times(row.lift) },
    ];
    // The confidence is what a rule claims, so that is what the data is asked for.
    const beside = [
      [about.n_test, "In test data", "tested_confidence"],
      [about.n_transactions, about.is_training ? "In training" : "In data", "exact_confidence"],
    ];
    for (const [n, label, name] of beside) {
      if (n !== null) shown.splice(3, 0, { label, class: "number on-wide-screens", cell: (row) => percent(row[name], 1) });
    }
    if (!ALWAYS_SHOWN.includes(sorted)) {
      const label = MEASURES.find(([name]) => name === sorted)[1];
      const cell = (row) => measure(row[sorted.replaceAll(" ", "_")]);
      shown.push({ label, sort: sorted, class: "number", cell });
    }
    return shown;
  };
  const drawn = table({
    caption: "Rules with their measures",
    columns,
    onSort: (sort, order) => choose({ sort, order: order === "descending" ? null : order }),
  });
  return {
    element: drawn.element,
    draw: (answer, question) => {
      sorted = question.sort ?? "lift";
      decimals = columnDecimals(answer.min_support);
      drawn.draw(answer.rules, { sort: sorted, order: question.order ?? "descending", empty: emptyText(question) });
    },
  };
}

function ruleText(row, href) {
  const arrow = h("span", { class: "arrow" }, " → ");
  return h("a", { class: "itemset rule", href }, itemset(row.antecedents), arrow, itemset(row.consequents));
}

function emptyText(question) {
  const named = [...question.items, ...question.without, ...question.left, ...question.right];
  if (named.length) return "No rule this strong has these items. Take one away, or lower the least support or the least value.";
  return "No rule is this strong. Lower the least support or the least value.";
}
