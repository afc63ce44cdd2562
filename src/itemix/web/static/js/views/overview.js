// Overview: what is in the data, in plain words; each finding leads on.
import { h, refill } from "../dom.js";
import { count, percent, plural, share, times } from "../format.js";
import { dataName } from "../parts/doubts.js";
import { head } from "../parts/head.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemset, joinedNames } from "../parts/sets.js";

export const title = "Overview";

const HEALTH = { converged: "Converged", mixed: "Chains mixed", calibrated: "Intervals hold" };
const BADGES = { good: "Good", poor: "Poor", unknown: "Not known" };
const MARKS = { good: "✓", poor: "!", unknown: "?" };

export function create(page) {
  const { about } = page;
  const notice = noticePlace();
  const summary = h("p", { class: "lead" });
  const findings = h("ul", { class: "findings" });
  const results = h("div", { class: "view" }, summary, findings);
  const element = h("div", { class: "view" }, head(title, "What the data holds, as the model sees it."), notice.element, results, health(page));

  const refresh = worker({
    notice,
    dimmed: results,
    work: async () => {
      const answer = await page.ask("overview");
      refill(summary, summaryText(about, answer));
      refill(findings, answer.findings.map((finding) => h("li", { class: "card finding" }, FINDINGS[finding.kind](page, finding))));
      page.announce(`${plural(answer.findings.length, "finding")}`);
    },
  });
  return { element, update: () => refresh() };
}

function summaryText(about, { n_transactions: n, mean_length: length }) {
  const size = n === null ? `${plural(about.n_items, "item")}` : `${plural(n, "transaction")} of ${plural(about.n_items, "item")}`;
  const kinds = about.n_components ? ` The model tells ${plural(about.n_components, about.called === "cause" ? "cause" : "kind")} apart.` : "";
  return `${size}, ${length.toFixed(1)} items in each on average.${kinds}`;
}

const FINDINGS = {
  segment: (page, { name, number, probability }) =>
    finding("The largest kind", h("bdi", {}, name), `${share(probability)} of the transactions`, page.href("components", { component: number }), "See all kinds"),
  pair: (page, { items, probability, ratio }) =>
    finding("The strongest pair", itemset(items), `together in ${percent(probability)}, ${times(ratio)} as often as by chance`, page.hrefOfSet(items), "See the evidence"),
  rule: (page, { items, then, probability, ratio }) =>
    finding("The best rule", [joinedNames(items, () => ", "), h("span", { class: "soft" }, " → "), joinedNames(then, () => ", ")], `true of ${percent(probability, 1)} of such transactions, ${times(ratio)} as often as usual`, page.hrefOfSet(items, then), "See the evidence"),
  surprise: (page, { items, probability, ratio }) =>
    finding("A surprise in the test data", itemset(items), `${percent(probability)}${ratio === null ? ", though never expected" : `, ${times(ratio)} as often as expected`}`, page.href("surprises"), "See all surprises"),
  unsure: (page, { items, probability, lower, upper }) =>
    finding("What the model does not know well", itemset(items), `${percent(probability)}, but it may be ${percent(lower)} to ${percent(upper)}`, page.hrefOfSet(items), "See the evidence"),
};

function finding(label, what, figures, href, verb) {
  return [h("p", { class: "label" }, label), h("p", { class: "what" }, what), h("p", { class: "soft" }, figures), h("p", {}, h("a", { href }, verb))];
}

/** Whether the fit can be relied on: a badge, and a line for each thing that was checked. */
function health(page) {
  const { checks } = page.about;
  const verdicts = checks.map(({ verdict }) => verdict);
  const isTested = checks.some(({ name, verdict }) => name === "calibrated" && verdict === "good");
  const overall = verdicts.includes("poor") ? "poor" : isTested ? "good" : "unknown";
  const rows = checks.map(({ name, verdict, sentence }) =>
    h("li", {}, badge(verdict), h("span", {}, h("b", {}, HEALTH[name]), h("span", { class: "soft" }, ` ${sentence}`))),
  );
  const untested = page.about.n_test === null && page.about.has_intervals ? h("p", { class: "soft small" }, "Start itemix explore with --test and a file of other transactions to see whether the intervals hold.") : null;
  const none = checks.length ? null : h("p", { class: "soft" }, "The model does not come with a record of its fit.");
  const about = page.about.n_transactions === null ? null : h("p", { class: "soft small" }, `Answers are compared with the ${dataName(page.about).toLowerCase()}, ${plural(page.about.n_transactions, "transaction")}${page.about.n_test === null ? "" : `, and the test data, ${count(page.about.n_test)}`}.`);
  return h("section", { class: "card health", "aria-label": "Health of the model" }, h("h2", {}, "Can it be relied on? ", badge(overall)), none, h("ul", {}, rows), untested, about);
}

function badge(verdict) {
  return h("span", { class: `badge ${verdict}` }, h("span", { "aria-hidden": "true" }, MARKS[verdict]), BADGES[verdict]);
}
