// Components: the kinds of transactions that the model has found, or the causes that act in them.
import { h, refill } from "../dom.js";
import { count, percent, plural, share, times } from "../format.js";
import { rangeBar } from "../parts/bars.js";
import { heatMap } from "../parts/heatmap.js";
import { head } from "../parts/head.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemset } from "../parts/sets.js";
import { table } from "../parts/table.js";

export const title = "Components";

const LISTED = 16;
const LISTED_ON_PHONES = 6;
const PHONE = matchMedia("(max-width: 760px)");
const ITEMS = 12;

export function create(page) {
  const { about } = page;
  if (about.n_components === null) return withoutComponents(page);
  let isChosenNow = false;
  const choose = (number) => {
    isChosenNow = true;
    page.change({ component: number });
  };
  const notice = noticePlace();
  const list = h("ol", { class: "component-list" });
  const more = h("button", { type: "button", click: () => page.change({ all: "1" }) });
  const map = heatMap({ onChoose: choose, onDraw: (drawn, total) => (mapText.textContent = heatText(about.called, drawn, total)) });
  const mapText = h("p", { class: "soft small" });
  const detail = componentDetail(page, about.called);
  const whole = h(
    "div",
    { class: "view" },
    h("div", { class: "with-side wide-side" }, h("div", { class: "view" }, list, h("div", {}, more)), detail.element),
    h("section", { class: "card" }, h("h2", {}, `Items by ${about.called}s`), mapText, map.element),
  );
  const element = h(
    "div",
    { class: "view" },
    head(`${titled(about.called)}s`, introduction(about)),
    notice.element,
    whole,
  );
  let answer = null;

  const refresh = worker({
    notice,
    dimmed: whole,
    work: async (params) => {
      answer ??= await page.ask("components");
      const number = Number(params.get("component") ?? 1);
      const listed = params.has("all") ? answer.components.length : PHONE.matches ? LISTED_ON_PHONES : LISTED;
      const shown = answer.components.slice(0, listed);
      const largest = answer.components[0].weight;
      keepFocus(list, () => refill(list, shown.map((one) => card(one, about.called, largest, one.number === number, choose))));
      more.hidden = shown.length === answer.components.length;
      more.textContent = `Show all ${plural(answer.components.length, about.called)}`;
      map.draw(answer.heat, answer.components, number);
      const chosen = await page.ask(`components/${number}`, { items: ITEMS });
      detail.draw(chosen);
      if (isChosenNow) bringIntoView(detail.element);
      isChosenNow = false;
      page.announce(`${titled(about.called)} ${number}, ${share(chosen.weight)} of transactions`);
    },
  });

  return { element, update: refresh };
}

/** What to say of a model that has no components. */
function withoutComponents(page) {
  const kinds = { ChowLiuTree: "one tree of items", TreeMixture: "one tree of items", MaxEntropyModel: "itemsets and their supports" };
  const kind = kinds[page.about.kind] ?? "another kind";
  const element = h(
    "div",
    { class: "view" },
    head(title, `This model has no components: it is ${kind}.`),
    h("p", {}, h("a", { href: page.href("dependencies", {}) }, "Dependencies"), " shows what it knows of its items."),
  );
  return { element, update: () => page.announce("This model has no components") };
}

/** On a phone what was chosen stands below the list, and on a tall page perhaps above what is seen. */
function bringIntoView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  if (top > innerHeight - 120 || bottom < 120) element.scrollIntoView({ block: "start" });
}

function heatText(called, drawn, total) {
  const which = drawn < total ? `the ${count(drawn)} largest of ${count(total)}` : "the largest first";
  return `The darker a cell, the more probable the item (row) is in the ${called} (column, ${which}). Choose a column to see the ${called}.`;
}

function introduction(about) {
  if (about.called === "cause")
    return `The model has found ${plural(about.n_components, "cause")}, several of which may act in one transaction. Each is described by the items that are more probable where it acts than overall.`;
  const sampled = about.n_samples > 1 ? ` They are averages over ${about.n_samples} samples.` : "";
  return `The model has found ${plural(about.n_components, "kind")} of transactions.${sampled} Each is described by the items that are more probable in it than overall.`;
}

function titled(called) {
  return called === "cause" ? "Cause" : "Component";
}

/** Draw anew, and give the focus back to the button at the same place. */
function keepFocus(list, draw) {
  const at = [...list.querySelectorAll("button")].indexOf(document.activeElement);
  draw();
  if (at >= 0) list.querySelectorAll("button")[at]?.focus();
}

function card(component, called, largest, isChosen, choose) {
  return h(
    "li",
    {},
    h(
      "button",
      {
        type: "button",
        class: "component",
        "aria-pressed": String(isChosen),
        click: () => choose(component.number),
      },
      h(
        "span",
        { class: "head" },
        h("span", { class: "share" }, share(component.weight)),
        h("span", { class: "soft small" }, `${titled(called)} ${component.number} · ${component.mean_length.toFixed(1)} items`),
      ),
      rangeBar({ value: component.weight, most: largest }),
      component.items.length
        ? itemset(component.items.map(({ item }) => item))
        : h("span", { class: "soft" }, component.in_general),
    ),
  );
}

function componentDetail(page, called) {
  const heading = h("h2");
  const facts = h("p", { class: "soft small" });
  let most = 1;
  const baskets = h("ul", { class: "baskets" });
  const items = table({
    caption: `Characteristic items of the ${called}`,
    columns: () => [
      { label: "Item", class: "wide", cell: (row) => itemset([row.item], page.hrefOfSet([row.item])) },
      { label: "Here", class: "number", cell: (row) => percent(row.probability, 1) },
      {
        label: h("span", { class: "visually-hidden" }, "As a bar"),
        cell: (row) => rangeBar({ value: row.probability, exact: row.overall, exactName: "overall", most }),
      },
      { label: "Lift", class: "number", cell: (row) => times(row.lift) },
    ],
    empty: "No item stands out here.",
  });
  const element = h(
    "section",
    { class: "card view", "aria-label": `The chosen ${called}` },
    h("div", {}, heading, facts),
    items.element,
    h("div", {}, h("h3", {}, "Typical baskets"), h("p", { class: "soft small" }, called === "cause" ? "Drawn from those in which this cause acts." : "Drawn from this component alone.")),
    baskets,
  );
  return {
    element,
    draw: (component) => {
      heading.textContent = `${titled(called)} ${component.number}`;
      facts.textContent = `${share(component.weight)} of transactions, ${component.mean_length.toFixed(1)} items on average. The mark across a bar is the item’s overall probability.`;
      most = Math.max(...component.items.map((row) => Math.max(row.probability, row.overall)), 1e-9);
      items.draw(component.items);
      refill(
        baskets,
        component.baskets.map((names) =>
          h("li", {}, names.length ? itemset(names) : h("span", { class: "soft" }, "Nothing")),
        ),
      );
    },
  };
}
