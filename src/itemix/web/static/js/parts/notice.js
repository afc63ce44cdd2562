// What a view says of its work: that it computes, what went wrong, and how to try again.
import { latest } from "../api.js";
import { h, refill } from "../dom.js";

const PATIENCE = 300; // milliseconds after which what is computed is said to be

/** Make a place for notices; `show(null)` clears it. `retry` is what its button does. */
export function noticePlace() {
  const element = h("div", { role: "status" });
  const button = (retry) => h("button", { type: "button", click: retry }, "Retry");
  return {
    element,
    show: (text, retry = null) => refill(element, text ? h("div", { class: "notice" }, h("p", {}, text), retry ? button(retry) : null) : null),
    computing: () => refill(element, h("p", { class: "computing" }, "Computing …")),
  };
}

/**
 * Make what does the work of a view again whenever it is asked to.
 *
 * While it takes long, what stands there is dimmed and said to be old: `dimmed`, and `others` as the count. What
 * was refused is said, the last result stays, and a button tries again. `work` may return a line to show.
 */
export function worker({ notice, dimmed, others = [], work }) {
  const places = [dimmed, ...others];
  let wasDrawn = false;
  const run = latest(async (...given) => {
    places.forEach((place) => place.classList.add("is-loading"));
    dimmed.setAttribute("aria-busy", "true");
    const timer = setTimeout(notice.computing, PATIENCE);
    try {
      const said = (await work(...given)) ?? null;
      clearTimeout(timer);
      notice.show(said);
      wasDrawn = true;
      show(true, true);
    } catch (error) {
      clearTimeout(timer);
      notice.show(wasDrawn ? `${sentence(error)} What is below is the last result.` : sentence(error), () => run(...given));
      show(wasDrawn, false);
    } finally {
      dimmed.removeAttribute("aria-busy");
    }
  });
  return run;

  function show(isShown, isTrue) {
    for (const place of places) {
      place.toggleAttribute("hidden", !isShown);
      place.classList.toggle("is-loading", false);
      place.classList.toggle("is-old", !isTrue);
    }
  }
}

/** The message of an error as a person would say it. */
export function sentence(error) {
  if (error.code === "too_slow") return "This takes longer than the server waits. Raise the least support, or ask for less.";
  const text = error.message.replace(/^expected/, "Expected");
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
