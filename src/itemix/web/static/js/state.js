// The state of the page, and the address that says it: which view, which model, the selection and all settings.
//
// The selection belongs to all views. A setting belongs to one view: in the address it stands under its own name
// while that view is shown, and as view.name otherwise, so that no view forgets its settings.

/** The selection: items that are looked at, items that are left out, the least support, a component, a set. */
export const SELECTION = ["items", "without", "min_support", "component", "set", "then"];
// What opens the drawer is no choice of its own: resetting the selection closes it, but nothing is lost by that.
const CHOSEN = ["items", "without", "min_support", "component"];
// Names that addresses had before the selection belonged to all views.
const FORMER = { include: "items", present: "items", item: "items", exclude: "without", absent: "without" };
const OWN = ["view", "model"];

/** Read an address; `first` is the view of one that names none, or none of `views`. */
export function decode(search, views, first) {
  const all = new URLSearchParams(search);
  const view = views.includes(all.get("view")) ? all.get("view") : first;
  const values = new URLSearchParams();
  for (const [given, value] of all) {
    if (!OWN.includes(given)) values.append(keyOf(view, FORMER[given] ?? given), value);
  }
  return { view, model: all.get("model"), values };
}

/** Write an address. */
export function encode({ view, model, values }) {
  const all = new URLSearchParams({ view });
  if (model) all.set("model", model);
  for (const [key, value] of values) {
    all.append(key.startsWith(`${view}.`) ? key.slice(view.length + 1) : key, value);
  }
  return `?${all}`;
}

/** Return what a view sees: the selection and its own settings, by their names. */
export function settingsOf({ values }, view) {
  const own = `${view}.`;
  const seen = new URLSearchParams();
  for (const [key, value] of values) {
    if (!key.includes(".")) seen.append(key, value);
    else if (key.startsWith(own)) seen.append(key.slice(own.length), value);
  }
  return seen;
}

/** Return the state with some values of a view changed: a list repeats the name, nothing leaves it out. */
export function changed(state, changes, view = state.view) {
  const values = new URLSearchParams(state.values);
  for (const [name, value] of Object.entries(changes)) {
    const key = keyOf(view, name);
    values.delete(key);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") values.append(key, one);
    }
  }
  return { ...state, view, values };
}

/** Return whether anything is selected or set. */
export function isChosen({ values }) {
  return [...values.keys()].some((key) => CHOSEN.includes(key) || key.includes("."));
}

function keyOf(view, name) {
  return SELECTION.includes(name) || name.includes(".") ? name : `${view}.${name}`;
}
