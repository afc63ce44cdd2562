// The frame: which view is shown, for which model, and how it changes with the address.
import { addressOf, changed, readAddress } from "./address.js";
import { ask, takeToken } from "./api.js";
import { h, refill } from "./dom.js";
import { startTheme } from "./theme.js";
import * as askView from "./views/ask.js";
import * as components from "./views/components.js";
import * as compare from "./views/compare.js";
import * as dependencies from "./views/dependencies.js";
import * as itemsets from "./views/itemsets.js";
import * as rules from "./views/rules.js";
import * as surprises from "./views/surprises.js";

const VIEWS = { itemsets, components, dependencies, rules, surprises, compare, ask: askView };
const FIRST = "itemsets";
// Views that are left out where they would have nothing to show.
const IS_EMPTY = {
  components: (about) => about.n_components === null,
  surprises: (about) => about.n_transactions === null && about.n_test === null,
  compare: (about) => about.n_transactions === null || about.n_test === null,
};

const main = document.getElementById("main");
const announcer = document.getElementById("announcer");
let shown = null; // { view, model, update, params }
let models = [];

/** What views get: the model that they are about, and ways to ask it and to change the address. */
function pageFor(view, model, about) {
  return {
    about,
    ask: (path, values = {}) => ask(path, { ...values, model }),
    model,
    href: (other, values) => addressOf(other, model, changed(new URLSearchParams(), values)),
    change: (changes) => {
      const params = changed(shown.params, changes);
      history.replaceState(null, "", addressOf(view, model, params));
      shown.params = params;
      shown.update(params);
    },
    announce: (text) => {
      announcer.textContent = text;
    },
  };
}

const known = new Map();

/** Return what is known of a model, asking for it once. */
async function aboutModel(model) {
  if (!known.has(model)) known.set(model, await ask("model", { model }));
  return known.get(model);
}

async function route() {
  const address = readAddress();
  const view = Object.hasOwn(VIEWS, address.view ?? "") ? address.view : FIRST;
  const model = models.includes(address.model) ? address.model : models[0];
  if (shown && shown.view === view && shown.model === model) {
    shown.params = address.params;
    shown.update(address.params);
    return;
  }
  const about = await aboutModel(model);
  const { element, update } = VIEWS[view].create(pageFor(view, model, about));
  shown = { view, model, update, params: address.params };
  document.title = `${VIEWS[view].title} · ${model} · itemix`;
  drawFrame(view, model, about);
  refill(main, element);
  update(address.params);
}

function drawFrame(view, model, about) {
  const links = Object.entries(VIEWS)
    .filter(([name]) => view === name || !IS_EMPTY[name]?.(about))
    .map(([name, { title }]) =>
      h("a", { href: addressOf(name, model, []), "aria-current": name === view ? "page" : null }, title),
    );
  const nav = document.querySelector(".views");
  refill(nav, links);
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (models.length === 1) {
    refill(document.getElementById("models"), h("span", { class: "soft" }, model));
    return;
  }
  const options = models.map((name) => h("option", { value: name, selected: name === model }, name));
  const change = (event) => go(addressOf(view, event.target.value, []));
  refill(document.getElementById("models"), h("select", { "aria-label": "Model", change }, options));
}

function go(address) {
  history.pushState(null, "", address);
  scrollTo(0, 0);
  start();
}

function followLinks(event) {
  const link = event.target.closest("a[href^='?']");
  if (!link || link.hasAttribute("download") || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
  main.focus();
}

async function start() {
  try {
    if (models.length === 0) models = (await ask("models")).models;
    await route();
  } catch (error) {
    refill(main, h("p", { class: "notice", role: "alert" }, error.message));
  }
}

takeToken();
startTheme(document.getElementById("theme"));
document.addEventListener("click", followLinks);
addEventListener("popstate", start);
start();
