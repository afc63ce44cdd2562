// What is selected in all views: it is seen everywhere, taken away piece by piece or at once, and sent to others.
import { h, refill } from "../dom.js";
import { textOf, thresholdText } from "../format.js";
import { isChosen, settingsOf } from "../state.js";
import { itemName } from "./sets.js";

/** Make the bar; `draw` gets the page and its state. */
export function selectionBar() {
  const chips = h("ul", { class: "chips", "aria-label": "Selection" });
  const none = h("span", { class: "soft small" }, "Nothing is selected.");
  const said = h("span", { class: "soft small", role: "status" });
  const reset = h("button", { type: "button", class: "quiet small" }, "Reset");
  const copy = h("button", { type: "button", class: "quiet small", click: copyLink }, "Copy link");
  const element = h("div", { class: "selection" }, h("span", { class: "soft small", "aria-hidden": "true" }, "Selection"), chips, none, h("span", { class: "toolbar" }, said, reset, copy));
  let clear = () => null;
  reset.addEventListener("click", () => clear());

  async function copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      say("Copied.");
    } catch {
      say("The browser does not let the page copy; the address above is the link.");
    }
  }

  function say(text) {
    said.textContent = text;
    setTimeout(() => (said.textContent = ""), 4000);
  }

  function draw(page, state) {
    const settings = settingsOf(state, state.view);
    const without = (name, value) => settings.getAll(name).filter((other) => other !== value);
    const kinds = [
      ...settings.getAll("items").map((name) => ({ shown: itemName(name), text: textOf(name), changes: { items: without("items", name) } })),
      ...settings.getAll("without").map((name) => ({ shown: ["no ", itemName(name)], text: `no ${textOf(name)}`, changes: { without: without("without", name) } })),
    ];
    const threshold = Number(settings.get("min_support"));
    if (threshold > 0) {
      const text = `at least ${thresholdText(threshold)}`;
      kinds.push({ shown: text, text, changes: { min_support: null } });
    }
    if (settings.has("component")) {
      const text = `${page.about.called} ${settings.get("component")}`;
      kinds.push({ shown: text, text, changes: { component: null } });
    }
    const at = [...chips.querySelectorAll("button")].indexOf(document.activeElement);
    refill(
      chips,
      kinds.map(({ shown, text, changes }) =>
        h("li", { class: "chip" }, h("span", {}, shown), h("button", { type: "button", "aria-label": `Remove ${text} from the selection`, click: () => page.change(changes) }, "×")),
      ),
    );
    if (at >= 0) (chips.querySelectorAll("button")[at] ?? copy).focus({ preventScroll: true });
    none.hidden = kinds.length > 0;
    reset.hidden = !isChosen(state);
    clear = () => page.clear();
  }

  return { element, draw };
}
