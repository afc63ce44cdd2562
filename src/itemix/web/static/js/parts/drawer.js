// The drawer: what stands behind a set or a rule. The address says which, so Back closes it.
import { h, refill } from "../dom.js";
import { count, listed, percent, plural, share, times } from "../format.js";
import { settingsOf } from "../state.js";
import { rangeBar } from "./bars.js";
import { dataName, doubts } from "./doubts.js";
import { sentence } from "./notice.js";
import { itemName, itemset, joinedNames } from "./sets.js";

const NARROW = matchMedia("(max-width: 760px)");
const SEGMENTS = 6;

/** Fill the drawer; `draw` gets the page and its state. */
export function drawer(element) {
  const heading = h("h2", { tabindex: "-1" });
  const close = h("button", { type: "button", class: "quiet", "aria-label": "Close the evidence" }, "×");
  const body = h("div", { class: "drawer-body" });
  refill(element, h("header", {}, heading, close), body);
  let page = null;
  let open = null; // the set and the rule that are shown, as text
  let opener = null;

  const leave = () => page.change({ set: null, then: null });
  close.addEventListener("click", leave);
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });

  async function draw(now, state) {
    page = now;
    const settings = settingsOf(state, state.view);
    const set = settings.getAll("set");
    const then = set.length ? settings.getAll("then") : [];
    const wanted = set.length ? JSON.stringify([page.model, set, then]) : null;
    if (wanted === open) return;
    if (open === null) opener = document.activeElement;
    open = wanted;
    element.hidden = wanted === null;
    document.body.classList.toggle("has-drawer", wanted !== null);
    // Where it covers all, nothing behind it can be reached.
    document.getElementById("main").inert = wanted !== null && NARROW.matches;
    if (wanted === null) {
      if (opener?.isConnected) opener.focus({ preventScroll: true });
      return;
    }
    refill(heading, joinedNames(set, () => ", "), then.length ? [h("span", { class: "soft" }, " → "), joinedNames(then, () => ", ")] : null);
    heading.focus({ preventScroll: true });
    await fill(set, then, wanted);
  }

  async function fill(set, then, wanted) {
    body.setAttribute("aria-busy", "true");
    body.classList.add("is-loading");
    try {
      const answer = await page.ask("evidence", { set, then });
      if (wanted !== open) return;
      refill(body, contents(page, set, then, answer));
      element.scrollTop = 0;
      page.announce(`Evidence for ${listed([...set, ...then])}: ${percent(answer.probability)}`);
    } catch (error) {
      if (wanted !== open) return;
      const again = h("button", { type: "button", click: () => fill(set, then, wanted) }, "Retry");
      refill(body, h("div", { class: "notice" }, h("p", {}, sentence(error)), again));
    } finally {
      body.removeAttribute("aria-busy");
      body.classList.remove("is-loading");
    }
  }

  return { draw };
}

function contents(page, set, then, answer) {
  const whole = [...set, ...then.filter((name) => !set.includes(name))];
  return [
    figures(page, then, answer),
    h(
      "p",
      { class: "toolbar" },
      h("a", { class: "button small", href: page.href("ask", then.length ? { items: then, given: set } : { items: set, given: [] }) }, "Ask about it"),
      h("button", { type: "button", class: "small", click: () => page.change({ items: whole, set: null, then: null }) }, "Select these items"),
    ),
    segments(page, answer),
    transactions(page, whole, answer),
    neighbours(page, "Without one of them", answer.subsets, "The share of it that holds the rest, too."),
    neighbours(page, "With one more", answer.supersets, "The share that holds this one, too."),
    ways(answer.ways),
  ].filter(Boolean);
}

/** What the model says, what is counted, and what would be without any dependence: bars on one scale. */
function figures(page, then, answer) {
  const { about } = page;
  const rows = [["Model", answer.probability, answer.lower ?? null, answer.upper ?? null]];
  for (const [found, label] of [
    [answer.data, dataName(about)],
    [answer.test, "Test data"],
  ]) {
    if (found) rows.push([`${label}: ${count(found.count)} of ${count(found.of)}`, found.share, null, null]);
  }
  rows.push(["If independent", answer.independent, null, null]);
  const most = Math.max(...rows.map(([, value, , upper]) => Math.max(value ?? 0, upper ?? 0)), 1e-12);
  const what = then.length ? "confidence" : "support";
  const interval = answer.lower === undefined ? "" : `, between ${percent(answer.lower)} and ${percent(answer.upper)} with a probability of 90%`;
  const lift = answer.independent > 0 ? `; ${times(answer.probability / answer.independent)} as often as if independent` : "";
  return h(
    "section",
    {},
    h("p", {}, h("span", { class: "figure" }, percent(answer.probability)), h("span", { class: "soft" }, ` ${what}${interval}${lift}`)),
    then.length ? h("p", { class: "soft small" }, `All of it together: ${percent(answer.support)}.`) : null,
    answer.lower === undefined ? null : doubts(about),
    h(
      "div",
      { class: "comparison" },
      rows.flatMap(([label, value, lower, upper]) => [h("span", {}, label), rangeBar({ value: value ?? 0, lower, upper, most }), h("span", { class: "number" }, percent(value))]),
    ),
  );
}

function segments(page, { segments: found }) {
  if (found.length === 0) return null;
  const rows = found.slice(0, SEGMENTS).map(({ number, name, share: part, weight }) =>
    h(
      "li",
      {},
      h("a", { class: "itemset", href: page.href("components", { component: number }) }, h("bdi", {}, name)),
      rangeBar({ value: part, exact: weight, exactName: "of all transactions", most: 1 }),
      h("span", { class: "number" }, share(part)),
    ),
  );
  return h(
    "section",
    {},
    h("h3", {}, "Where it comes from"),
    h("p", { class: "soft small" }, "The share of the transactions that hold it, by component; the mark is the share of all transactions."),
    h("ul", { class: "segment-list" }, rows),
  );
}

function transactions(page, whole, { transactions: found, n_holding: total }) {
  if (total === null) return null;
  const rows = found.map(({ id, others }) =>
    h(
      "li",
      {},
      h("span", { class: "soft small number" }, h("bdi", {}, id)),
      h("span", {}, whole.map((name, at) => [at ? ", " : null, h("b", {}, itemName(name))]), others.length ? [", ", joinedNames(others, () => ", ")] : null),
    ),
  );
  const which = total > found.length ? `The first ${found.length} of ${count(total)} that hold it.` : total ? `All ${plural(total, "transaction")} that hold it.` : "None holds it.";
  return h(
    "section",
    {},
    h("h3", {}, `Transactions of the ${dataName(page.about).toLowerCase()}`),
    h("p", { class: "soft small" }, which),
    rows.length ? h("ol", { class: "baskets" }, rows) : null,
  );
}

function neighbours(page, title, found, note) {
  if (found.length === 0) return null;
  const rows = found.map(({ items, item, probability, share: part }) =>
    h(
      "li",
      {},
      h("a", { class: "itemset", href: page.hrefOfSet(items) }, title.startsWith("With ") ? itemName(item) : itemset(items)),
      h("span", { class: "number" }, percent(probability)),
      h("span", { class: "number soft" }, percent(part, 1)),
    ),
  );
  return h("section", {}, h("h3", {}, title), h("p", { class: "soft small" }, note), h("ul", { class: "neighbour-list" }, rows));
}

/** The same question elsewhere, each with a button that copies it. */
function ways({ python, command_line: command, path }) {
  const curl = `curl '${new URL(path, location.href).href.replaceAll("'", "%27")}'`;
  const block = (name, text) => {
    const said = h("span", { class: "soft small", role: "status" });
    const copy = async () => {
      await navigator.clipboard.writeText(text).then(
        () => (said.textContent = "Copied."),
        () => (said.textContent = "Select the text to copy it."),
      );
    };
    const button = h("button", { type: "button", class: "quiet small", "aria-label": `Copy the ${name}`, click: copy }, "Copy");
    return h("div", { class: "way" }, h("p", { class: "soft small" }, name, h("span", {}, said, button)), h("pre", { tabindex: "0" }, h("code", {}, text)));
  };
  return h("section", {}, h("h3", {}, "The same elsewhere"), block("Python", python), block("command line", command), block("curl", curl));
}
