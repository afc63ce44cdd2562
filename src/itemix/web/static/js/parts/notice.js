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

/** Do some work of a view: dim what is old while it takes long, and say what was refused. */
export async function shownWork(notice, dimmed, work) {
  dimmed.classList.add("is-loading");
  dimmed.setAttribute("aria-busy", "true");
  try {
    notice.show(null);
    await work();
  } catch (error) {
    notice.show(error.message);
  } finally {
    dimmed.classList.remove("is-loading");
    dimmed.removeAttribute("aria-busy");
  }
}
