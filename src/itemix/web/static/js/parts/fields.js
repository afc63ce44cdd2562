// Fields with labels: text, numbers, choices from a list and choices in a row.
import { freshId, h } from "../dom.js";

function labelled(label, control) {
  control.id = freshId("field");
  return h("div", { class: "field" }, h("label", { class: "label", for: control.id }, label), control);
}

/** A field for text; `onChange` is told while one types. */
export function textField({ label, placeholder = "", onChange }) {
  const input = h("input", { type: "search", placeholder, autocomplete: "off", input: () => onChange(input.value) });
  return {
    element: labelled(label, input),
    set: (value) => {
      if (input.value !== value) input.value = value;
    },
  };
}

/** A field for a number; an empty field is null. */
export function numberField({ label, min = null, step = "any", placeholder = "", onChange }) {
  const change = () => input.validity.valid && onChange(input.value === "" ? null : Number(input.value));
  const input = h("input", { type: "number", min, step, placeholder, input: change });
  return {
    element: labelled(label, input),
    set: (value) => {
      const text = value === null ? "" : String(value);
      if (document.activeElement !== input) input.value = text;
    },
  };
}

/** Two numbers with one label, the ends of a range. */
export function rangeFields({ label, onChange }) {
  const make = (side) => {
    const change = () => input.validity.valid && onChange(side, input.value === "" ? null : Number(input.value));
    const input = h("input", { type: "number", min: 1, step: 1, "aria-label": `${label}, ${side}`, input: change });
    input.placeholder = side === "least" ? "1" : "any";
    return input;
  };
  const inputs = { least: make("least"), most: make("most") };
  const to = h("span", { class: "soft", "aria-hidden": "true" }, "to");
  const element = h(
    "div",
    { class: "field" },
    h("span", { class: "label", "aria-hidden": "true" }, label),
    h("div", { class: "pair" }, inputs.least, to, inputs.most),
  );
  return {
    element,
    set: (side, value) => {
      if (document.activeElement !== inputs[side]) inputs[side].value = value ?? "";
    },
  };
}

/** One of many words. */
export function selectField({ label, options, onChange }) {
  const select = h(
    "select",
    { change: () => onChange(select.value) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  return { element: labelled(label, select), set: (value) => (select.value = value) };
}

/** One of a few words, all of them seen. */
export function segments({ label, options, onChange }) {
  const name = freshId("segments");
  const inputs = options.map(([value]) =>
    h("input", { type: "radio", name, value, change: () => onChange(value) }),
  );
  const element = h(
    "div",
    { class: "field" },
    h("span", { class: "label", "aria-hidden": "true" }, label),
    h(
      "div",
      { class: "segments", role: "radiogroup", "aria-label": label },
      options.map(([, text], at) => h("label", {}, inputs[at], text)),
    ),
  );
  return {
    element,
    set: (value) => {
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}
