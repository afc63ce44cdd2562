// The filters of a view in a grid; on a phone they fold away, so that what was found is seen first.
import { h } from "../dom.js";

const PHONE = matchMedia("(max-width: 760px)");

export function filters(...elements) {
  const fold = h("details", { class: "fold", open: !PHONE.matches }, h("summary", { class: "label" }, "Filters"), h("div", { class: "filters" }, elements));
  PHONE.addEventListener("change", ({ matches }) => {
    fold.open = !matches;
  });
  return fold;
}
