// Fields with labels: text, numbers, choices from a list and choices in a row.
import { freshId, h, refill } from "../dom.js";

function labelled(label, control, hint = null) {
  control.id = freshId("field");
  return h("div", { class: "field" }, h("label", { class: "label", for: control.id }, label), control, hint);
}

/** Say under a field what it takes, where what was typed is not that; return whether it can be used. */
function checked(input, hint) {
  refill(hint, input.validity.valid ? "" : input.validationMessage);
  input.setAttribute("aria-invalid", String(!input.validity.valid));
  return input.validity.valid;
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
  const hint = h("p", { class: "hint", role: "status" });
  const change = () => checked(input, hint) && onChange(input.value === "" ? null : Number(input.value));
  const input = h("input", { type: "number", min, step, placeholder, input: change });
  return {
    element: labelled(label, input, hint),
    set: (value) => {
      const text = value === null ? "" : String(value);
      if (document.activeElement !== input) input.value = text;
    },
  };
}

/** Two numbers with one label, the ends of a range. */
export function rangeFields({ label, onChange }) {
  const hint = h("p", { class: "hint", role: "status" });
  const make = (side) => {
    const change = () => checked(input, hint) && onChange(side, input.value === "" ? null : Number(input.value));
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
    hint,
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
