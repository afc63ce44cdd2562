// Components: the kinds of transactions that the model has found, on a map; or the causes that act in them.
import { forgetAnswers, send } from "../api.js";
import { h, refill } from "../dom.js";
import { count, percent, plural, share, times } from "../format.js";
import { rangeBar } from "../parts/bars.js";
import { downloads } from "../parts/downloads.js";
import { head } from "../parts/head.js";
import { heatMap } from "../parts/heatmap.js";
import { noticePlace, sentence, worker } from "../parts/notice.js";
import { segmentMap } from "../parts/segmentmap.js";
import { itemset } from "../parts/sets.js";
import { stepSlider } from "../parts/steps.js";
import { table } from "../parts/table.js";

export const title = "Components";

const LISTED = 12;
const MOST_MAPPED = 1000;
const ITEMS = 12;
const RELEVANCE = 0.6;
const HEAD = 70; // the height of what stays on top of the page

export function create(page) {
  const { about } = page;
  if (about.n_components === null) return withoutComponents(page);
  const isMapped = about.called === "component" && about.n_components > 1 && about.n_components <= MOST_MAPPED;
  let isChosenNow = false;
  const choose = (number) => {
    isChosenNow = true;
    page.change({ component: number });
  };
  const notice = noticePlace();
  const list = h("ol", { class: "segment-rows" });
  const more = h("button", { type: "button", class: "small", click: () => page.change({ all: "1" }) });
  const controls = {
    kinds: stepSlider({
      label: "Kinds",
      low: 1,
      high: about.n_components,
      onChange: (kinds, how) => page.change({ kinds: kinds === about.n_components ? null : kinds }, how),
      written: (kinds) => `${count(kinds)} of ${count(about.n_components)}`,
    }),
    relevance: stepSlider({
      label: "Items: from telling to frequent",
      low: 0,
      high: 10,
      onChange: (step, how) => page.change({ relevance: step / 10 === RELEVANCE ? null : step / 10 }, how),
      written: (step) => (step / 10).toFixed(1),
    }),
  };
  const bubbles = segmentMap(page, { onChoose: choose });
  const mapText = h("p", { class: "soft small" });
  const heat = heatMap({ onChoose: choose, onDraw: (drawn, total) => (mapText.textContent = heatText(about.called, drawn, total)) });
  const files = downloads(page, "assignments");
  const canAssign = isMapped && about.n_transactions !== null && about.can_name;
  const detail = componentDetail(page, () => run());
  const whole = h(
    "div",
    { class: "view" },
    h(
      "div",
      { class: "with-side wide-side" },
      h("div", { class: "view" }, isMapped ? h("section", { class: "card", "aria-label": "The map" }, bubbles.element) : null, h("section", { class: "card", "aria-label": `All ${about.called}s` }, list, more)),
      h("div", { class: "side detail-side" }, detail.element),
    ),
    h("section", { class: "card" }, h("h2", {}, `Items by ${about.called}s`), mapText, heat.element),
  );
  const element = h(
    "div",
    { class: "view" },
    head(`${titled(about.called)}s`, introduction(about), canAssign ? h("div", {}, h("span", { class: "visually-hidden" }, "Who belongs where"), files.element) : null),
    isMapped ? h("section", { class: "card controls two", "aria-label": "Which kinds" }, controls.kinds.element, controls.relevance.element) : null,
    notice.element,
    whole,
  );
  let last = null;

  const refresh = worker({
    notice,
    dimmed: whole,
    work: async (params) => {
      last = params;
      const number = Number(params.get("component") ?? 1);
      const kinds = isMapped ? params.get("kinds") : null;
      const relevance = params.get("relevance");
      const answer = await page.ask("components", { limit: 200 });
      const map = isMapped ? await page.ask("map", { kinds, relevance, items: ITEMS }) : null;
      const segments = map === null ? answer.components.map((one) => ({ ...one, numbers: [one.number] })) : map.segments;
      if (isMapped) {
        controls.kinds.set(segments.length);
        controls.relevance.set(Math.round(10 * Number(relevance ?? RELEVANCE)));
        bubbles.draw(segments, number);
        files.set({ kinds });
      }
      drawList(segments, number, params.has("all"));
      heat.draw(answer.heat, answer.components, number);
      const chosen = await page.ask(`components/${number}`, { items: ITEMS });
      const group = segments.find((one) => one.numbers.includes(number)) ?? null;
      detail.draw(chosen, group, isMapped);
      if (isChosenNow) bringIntoSight(detail.element);
      isChosenNow = false;
      page.announce(`${group?.name ?? chosen.name}, ${share(group?.weight ?? chosen.weight)} of transactions`);
    },
  });
  const run = () => refresh(last);

  function drawList(segments, number, isAll) {
    const shown = isAll ? segments : segments.slice(0, LISTED);
    const largest = segments[0]?.weight ?? 1;
    const at = [...list.querySelectorAll("button")].indexOf(document.activeElement);
    refill(list, shown.map((one) => row(one, largest, one.numbers.includes(number), choose)));
    if (at >= 0) list.querySelectorAll("button")[at]?.focus({ preventScroll: true });
    more.hidden = shown.length === segments.length;
    more.textContent = `Show all ${count(segments.length)}`;
  }

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

/** What was chosen may stand below the list, or above what is seen of a long page. */
function bringIntoSight(element) {
  const { top } = element.getBoundingClientRect();
  if (top < HEAD || top > innerHeight - 2 * HEAD) element.scrollIntoView({ block: "start" });
}

function heatText(called, drawn, total) {
  const which = drawn < total ? `the ${count(drawn)} largest of ${count(total)}` : "the largest first";
  return `The darker a cell, the more probable the item (row) is in the ${called} (column, ${which}). Choose a column to see the ${called}.`;
}

function introduction(about) {
  if (about.called === "cause") return `The model has found ${plural(about.n_components, "cause")}, several of which may act in one transaction.`;
  const sampled = about.n_samples > 1 ? `, averaged over ${about.n_samples} samples` : "";
  return `The model has found ${plural(about.n_components, "kind")} of transactions${sampled}. What is alike is joined by the slider.`;
}

function titled(called) {
  return called === "cause" ? "Cause" : "Component";
}

function row({ name, weight, mean_length: length, numbers }, largest, isChosen, choose) {
  const which = numbers.length > 1 ? `${numbers.length} joined` : `no. ${numbers[0]}`;
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "segment-row", "aria-pressed": String(isChosen), click: () => choose(numbers[0]) },
      h("span", { class: "share number" }, share(weight)),
      rangeBar({ value: weight, most: largest }),
      h("span", { class: "name" }, h("bdi", {}, name)),
      h("span", { class: "soft small number" }, `${which} · ${length.toFixed(1)} items`),
    ),
  );
}

function componentDetail(page, again) {
  const { about } = page;
  const heading = h("h2");
  const facts = h("p", { class: "soft small" });
  let most = 1;
  const baskets = h("ul", { class: "baskets" });
  const items = table({
    caption: "Its items",
    columns: () => [
      { label: "Item", class: "wide", cell: (one) => itemset([one.item], page.hrefOfSet([one.item])) },
      { label: "Here", class: "number", cell: (one) => percent(one.probability, 1) },
      {
        label: h("span", { class: "visually-hidden" }, "As a bar"),
        cell: (one) => rangeBar({ value: one.probability, exact: one.overall, exactName: "overall", most }),
      },
      { label: "Lift", class: "number", cell: (one) => times(one.lift) },
    ],
    empty: "No item stands out here.",
  });
  const naming = nameField(page, again);
  const drawn = h("p", { class: "soft small" }, about.called === "cause" ? "Drawn from those in which this cause acts." : "Drawn from this component alone.");
  const element = h(
    "section",
    { class: "card view", "aria-label": `The chosen ${about.called}` },
    h("div", {}, heading, facts),
    about.can_name ? naming.element : null,
    items.element,
    h("div", {}, h("h3", {}, "Typical baskets"), drawn),
    baskets,
  );
  return {
    element,
    draw: (component, group, isMapped) => {
      const isJoined = group !== null && group.numbers.length > 1;
      refill(heading, h("bdi", {}, group?.name ?? component.name));
      const which = isJoined ? `${group.numbers.length} components, of which no. ${component.number} is chosen` : `${titled(about.called)} ${component.number}`;
      const [weight, length] = isJoined ? [group.weight, group.mean_length] : [component.weight, component.mean_length];
      const near = isMapped && group?.nearest ? ` Most like it: ${group.nearest}.` : "";
      facts.textContent = `${which}: ${share(weight)} of transactions, ${length.toFixed(1)} items on average. The mark across a bar is the item’s overall probability.${near}`;
      const rows = isMapped && group ? group.items : component.items;
      most = Math.max(...rows.map((one) => Math.max(one.probability, one.overall)), 1e-9);
      items.draw(rows);
      naming.set(component);
      refill(
        baskets,
        component.baskets.map((names) => h("li", {}, names.length ? itemset(names) : h("span", { class: "soft" }, "Nothing"))),
      );
    },
  };
}

/** A field for the name that people give a component; it is kept beside the model. */
function nameField(page, again) {
  const said = h("span", { class: "soft small", role: "status" });
  const field = h("input", { "aria-label": "Your name for it", placeholder: "Your name for it", maxlength: 80, autocomplete: "off" });
  const save = h("button", { class: "small" }, "Name it");
  let shown = null;
  const submit = async (event) => {
    event.preventDefault();
    try {
      const answer = await send("names", { model: page.model, number: shown.number, name: field.value });
      said.textContent = field.value ? (answer.is_kept ? "Kept beside the model." : "Kept until the explorer ends: the model is in no file.") : "Taken away.";
      forgetAnswers();
      again();
    } catch (error) {
      said.textContent = sentence(error);
    }
  };
  const element = h("form", { class: "naming", submit }, field, save, said);
  return {
    element,
    set: (component) => {
      if (shown?.number !== component.number) said.textContent = "";
      shown = component;
      if (document.activeElement !== field) field.value = component.is_given ? component.name : "";
    },
  };
}
