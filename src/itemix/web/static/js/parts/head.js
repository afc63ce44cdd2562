// The head of a view: its title, what it shows in a line, and what can be done with it.
import { h } from "../dom.js";

export function head(title, text, actions = null) {
  return h("div", { class: "intro" }, h("div", { class: "intro-text" }, h("h1", {}, title), h("p", {}, text)), actions);
}
