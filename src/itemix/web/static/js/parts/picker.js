// A field in which items are picked: type, choose from the list, and take away again.
import { latest } from "../api.js";
import { freshId, h, refill } from "../dom.js";
import { percent, textOf } from "../format.js";
import { itemName } from "./sets.js";

const OFFERED = 12;

/**
 * Make a picker; `find` returns items for a text, `onChange` gets all names that are picked.
 * What is picked is shown under the field, but not where the bar of the selection shows it.
 */
export function itemPicker({ label, find, onChange, isShownAbove = false }) {
  const id = freshId("picker");
  let picked = [];
  let offered = [];
  let active = -1;

  const input = h("input", {
    id,
    role: "combobox",
    autocomplete: "off",
    placeholder: "Add an item",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": `${id}-options`,
    input: () => offer(input.value),
    focus: () => offer(input.value),
    blur: () => {
      close();
      if (input.value) refill(hint, `“${input.value}” is not picked: choose an item of the list.`);
    },
    keydown: onKey,
  });
  // A list that can be scrolled would be a stop of the Tab key, on the way to which it closes.
  const options = h("ul", {
    class: "options",
    role: "listbox",
    id: `${id}-options`,
    "aria-label": label,
    tabindex: "-1",
    hidden: true,
  });
  const chips = h("ul", { class: "chips", "aria-label": `${label}, picked` });
  const hint = h("p", { class: "hint", role: "status", id: `${id}-hint` });
  input.setAttribute("aria-describedby", `${id}-hint`);
  const element = h(
    "div",
    { class: "field" },
    h("label", { class: "label", for: id }, label),
    h("div", { class: "picker" }, input, options),
    hint,
    isShownAbove ? null : chips,
  );

  const offer = latest(async (text) => {
    // Whatever is wrong shows in the view; a list that cannot be had is just not offered.
    const { items } = await find(text, OFFERED + picked.length).catch(() => ({ items: [] }));
    if (document.activeElement !== input) return;
    offered = items.filter(({ item }) => !picked.includes(String(item))).slice(0, OFFERED);
    active = text && offered.length ? 0 : -1;
    drawOptions();
    refill(hint, text && items.length === 0 ? `No item has “${text}” in its name.` : "");
  });

  function drawOptions() {
    refill(options, offered.map(drawOption));
    options.hidden = offered.length === 0;
    input.setAttribute("aria-expanded", String(!options.hidden));
    if (active >= 0) input.setAttribute("aria-activedescendant", `${id}-option-${active}`);
    else input.removeAttribute("aria-activedescendant");
    options.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function drawOption({ item, probability }, at) {
    const properties = {
      role: "option",
      id: `${id}-option-${at}`,
      "aria-selected": String(at === active),
      // Before the field loses the focus, which closes the list.
      mousedown: (event) => {
        event.preventDefault();
        pick(String(item));
      },
    };
    return h("li", properties, h("span", {}, itemName(item)), h("span", { class: "soft number" }, percent(probability)));
  }

  function onKey(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves && offered.length) {
      event.preventDefault();
      active = (active + moves[event.key] + offered.length) % offered.length;
      drawOptions();
    } else if (event.key === "Enter" && active < 0 && input.value) {
      offer(input.value);
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      pick(String(offered[active].item));
    } else if (event.key === "Escape") {
      close();
    } else if (event.key === "Backspace" && input.value === "" && picked.length) {
      onChange(picked.slice(0, -1));
    }
  }

  function pick(name) {
    refill(hint);
    input.value = "";
    close();
    onChange([...picked, name]);
  }

  function close() {
    offered = [];
    active = -1;
    drawOptions();
  }

  function drawChip(name) {
    const remove = () => {
      input.focus();
      onChange(picked.filter((other) => other !== name));
    };
    const button = h("button", { type: "button", "aria-label": `Remove ${textOf(name)}`, click: remove }, "×");
    return h("li", { class: "chip" }, itemName(name), button);
  }

  return {
    element,
    set: (names) => {
      picked = names;
      refill(chips, names.map(drawChip));
    },
  };
}
