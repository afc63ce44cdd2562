// A slider over whole numbers.
import { freshId, h } from "../dom.js";

/** Make a slider from `low` to `high`; `written` says a value in words. */
export function stepSlider({ label, low, high, onChange, written }) {
  const id = freshId("steps");
  let drag = 0;
  let isHeld = false;
  const text = h("span", { class: "value number" });
  const range = h("input", {
    type: "range",
    id,
    min: low,
    max: high,
    step: 1,
    input: () => {
      say();
      onChange(Number(range.value), { control: `${id} ${drag}`, isHeld });
    },
    pointerdown: () => {
      isHeld = true;
      drag += 1;
    },
    change: () => {
      isHeld = false;
    },
  });
  const say = () => {
    text.textContent = written(Number(range.value));
    range.setAttribute("aria-valuetext", text.textContent);
  };
  return {
    element: h("div", { class: "slider" }, h("label", { class: "label", for: id }, label), text, range),
    set: (value) => {
      if (Number(range.value) !== value) range.value = value;
      say();
    },
  };
}
