// The frame: which view is shown, for which model, with which selection. Views are functions of the state.
import { ask, takeToken } from "./api.js";
import { h, refill } from "./dom.js";
import { drawer } from "./parts/drawer.js";
import { selectionBar } from "./parts/selection.js";
import { changed, decode, encode, settingsOf } from "./state.js";
import { createStore } from "./store.js";
import { startTheme } from "./theme.js";
import * as askView from "./views/ask.js";
import * as components from "./views/components.js";
import * as compare from "./views/compare.js";
import * as dependencies from "./views/dependencies.js";
import * as itemsets from "./views/itemsets.js";
import * as overview from "./views/overview.js";
import * as rules from "./views/rules.js";
import * as surprises from "./views/surprises.js";
import * as whatif from "./views/whatif.js";

const VIEWS = { overview, itemsets, components, dependencies, rules, surprises, compare, ask: askView, whatif };
const NAMES = Object.keys(VIEWS);
const FIRST = NAMES[0];
// Views that are left out where they would have nothing to show.
const IS_EMPTY = {
  components: (about) => about.n_components === null,
  surprises: (about) => about.n_transactions === null && about.n_test === null,
  compare: (about) => about.n_transactions === null || about.n_test === null,
};

const main = document.getElementById("main");
const announcer = document.getElementById("announcer");
const place = h("div");
const bar = selectionBar();
const evidence = drawer(document.getElementById("drawer"));
const abouts = new Map(); // what is known of each model
const made = new Map(); // the views that were made, by model and name
let models = [];
let shown = null; // the view on the screen

/** Return the promise of what a model is; it is asked for once. */
function aboutModel(model) {
  if (!abouts.has(model)) {
    const asked = ask("model", { model });
    abouts.set(model, asked);
    asked.catch(() => abouts.delete(model));
  }
  return abouts.get(model);
}

/** What views get: the model that they are about, ways to ask it, and to change the state. */
function pageFor(view, model, about) {
  const own = (changes, name = view) => changed({ ...store.state, model }, changes, name);
  return {
    view,
    about,
    model,
    ask: (path, values = {}) => ask(path, { ...values, model }),
    /** The address of another view with some values; what is selected stays. */
    href: (other, values = {}) => encode(own({ set: null, then: null, ...values }, other)),
    /** The address of this view with the drawer open at a set, or at a rule. */
    hrefOfSet: (set, then = []) => encode(own({ set, then })),
    open: (set, then = []) => store.put(own({ set, then })),
    change: (changes, how) => store.put(own(changes), how),
    /** Say in the address what is shown in place of what was asked for; `isNew` asks for that, too. */
    correct: (changes, isNew = false) => {
      store.correct(own(changes));
      if (isNew) setTimeout(() => render(store.state));
      else bar.draw(pageFor(view, model, about), store.state);
    },
    clear: () => store.put({ ...store.state, values: new URLSearchParams() }),
    announce: (text) => {
      announcer.textContent = text;
    },
  };
}

function viewOf(name, model, about) {
  const key = `${name} ${model}`;
  if (!made.has(key)) made.set(key, VIEWS[name].create(pageFor(name, model, about)));
  return made.get(key);
}

async function render(state) {
  try {
    if (models.length === 0) models = (await ask("models")).models;
    const model = models.includes(state.model) ? state.model : models[0];
    const about = await aboutModel(model);
    if (store.state !== state) return; // another change came in between
    const page = pageFor(state.view, model, about);
    const view = viewOf(state.view, model, about);
    if (shown !== view) {
      document.title = `${VIEWS[state.view].title} · ${model} · itemix`;
      refill(place, view.element);
      refill(main, bar.element, place);
      shown = view;
    }
    drawFrame(state, model, about);
    bar.draw(page, state);
    evidence.draw(page, state);
    await view.update(settingsOf(state, state.view));
  } catch (error) {
    shown = null;
    const again = h("button", { type: "button", click: () => render(store.state) }, "Retry");
    refill(main, h("div", { class: "notice", role: "alert" }, h("p", {}, error.message), again));
  }
}

function drawFrame(state, model, about) {
  const nav = document.querySelector(".views");
  const focused = nav.contains(document.activeElement) ? document.activeElement.textContent : null;
  const links = NAMES.filter((name) => state.view === name || !IS_EMPTY[name]?.(about)).map((name) =>
    h("a", { href: pageFor(name, model, about).href(name), "aria-current": name === state.view ? "page" : null }, VIEWS[name].title),
  );
  refill(nav, links);
  if (focused !== null) links.find((link) => link.textContent === focused)?.focus({ preventScroll: true });
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  drawModels(state, model);
}

function drawModels(state, model) {
  const place = document.getElementById("models");
  if (models.length === 1) {
    refill(place, h("span", { class: "soft model-name" }, model));
    return;
  }
  if (place.querySelector("select")?.value === model) return;
  const options = models.map((name) => h("option", { value: name, selected: name === model }, name));
  // The selection stays where another model is chosen: what it does not know, its views say.
  const change = (event) => store.put({ ...store.state, model: event.target.value });
  refill(place, h("select", { "aria-label": "Model", change }, options));
}

function followLinks(event) {
  const link = event.target.closest("a[href^='?']");
  if (!link || link.hasAttribute("download") || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const before = store.state.view;
  const next = read(link.getAttribute("href"));
  store.put(next);
  if (next.view === before) return;
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

const read = (search) => decode(search, NAMES, FIRST);

takeToken();
startTheme(document.getElementById("theme"));
document.addEventListener("click", followLinks);
const store = createStore({ decode: read, encode, render });
render(store.state);
