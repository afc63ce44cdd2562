// The address holds the state: which view, which model, and everything that was chosen in the view.

const OWN = ["view", "model"];

/** Return what the address says. */
export function readAddress() {
  const all = new URLSearchParams(location.search);
  const params = new URLSearchParams([...all].filter(([name]) => !OWN.includes(name)));
  return { view: all.get("view"), model: all.get("model"), params };
}

/** Return the address of a view with some parameters. */
export function addressOf(view, model, params) {
  const all = new URLSearchParams();
  all.set("view", view);
  if (model) all.set("model", model);
  for (const [name, value] of params) all.append(name, value);
  return `?${all}`;
}

/** Return parameters with some changed: a list repeats the name, nothing leaves it out. */
export function changed(params, changes) {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") next.append(name, one);
    }
  }
  return next;
}
