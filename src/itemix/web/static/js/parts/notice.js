// One line that says what went wrong, and work that shows it there.
import { h, refill } from "../dom.js";

/** Make a place for a notice; `show(null)` clears it. */
export function noticePlace() {
  const element = h("div", { role: "status" });
  return {
    element,
    show: (text) => refill(element, text ? h("p", { class: "notice" }, text) : null),
  };
}

/**
 * Do some work of a view: dim what is old while it takes long, and say what it returns or what was refused.
 * Then what stood there, in `dimmed` and in `others`, is no answer any more and is hidden.
 */
export async function shownWork(notice, dimmed, work, others = []) {
  const show = (isShown) => [dimmed, ...others].forEach((element) => element.toggleAttribute("hidden", !isShown));
  dimmed.classList.add("is-loading");
  dimmed.setAttribute("aria-busy", "true");
  try {
    notice.show((await work()) ?? null);
    show(true);
  } catch (error) {
    notice.show(error.message);
    show(false);
  } finally {
    dimmed.classList.remove("is-loading");
    dimmed.removeAttribute("aria-busy");
  }
}
