// Tables that are sorted by the server, and pages of them.
import { h, refill } from "../dom.js";
import { count } from "../format.js";

/**
 * Make a table. A column has a `label`, a `cell` that makes a node or a text of a row, perhaps a `class`, and
 * a `sort` key if it can be sorted by.
 */
export function table({ caption, columns, onSort = null, empty: usual = "Nothing found." }) {
  // The roles are those of the elements; they are said because rows in narrow cards are laid out in two lines.
  const head = h("thead", { role: "rowgroup" });
  const body = h("tbody", { role: "rowgroup" });
  const frame = h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": caption });
  const whole = h("table", { role: "table" }, h("caption", { class: "visually-hidden" }, caption), head, body);

  function drawHead(sort, order) {
    refill(head, h("tr", { role: "row" }, columns().map((column) => header(column, sort, order))));
  }

  function header({ label, sort: key, class: kind }, sort, order) {
    if (!key || !onSort) return h("th", { role: "columnheader", scope: "col", class: kind }, label);
    const isSorted = key === sort;
    const arrow = h("span", { class: "arrow", "aria-hidden": "true" }, isSorted ? (order === "ascending" ? "↑" : "↓") : "");
    const flip = isSorted && order === "descending" ? "ascending" : "descending";
    const button = h("button", { type: "button", click: () => onSort(key, flip) }, label, arrow);
    return h("th", { role: "columnheader", scope: "col", class: kind, "aria-sort": isSorted ? order : null }, button);
  }

  function draw(rows, { sort = null, order = "descending", empty = usual } = {}) {
    if (rows.length === 0) {
      refill(frame, h("p", { class: "empty" }, empty));
      return;
    }
    const focused = head.contains(document.activeElement) ? document.activeElement.textContent : null;
    drawHead(sort, order);
    refill(body, rows.map(drawRow));
    if (whole.parentElement !== frame) refill(frame, whole);
    if (focused !== null) refocus(focused);
  }

  /** A header that was pressed is drawn anew; give it the focus back. */
  function refocus(text) {
    const label = text.replace(/[↑↓]/, "");
    [...head.querySelectorAll("button")].find((button) => button.textContent.startsWith(label))?.focus({ preventScroll: true });
  }

  function drawRow(row, at) {
    const cells = columns().map(({ cell, class: kind }) => h("td", { role: "cell", class: kind }, cell(row, at)));
    return h("tr", { role: "row" }, cells);
  }

  return { element: frame, draw };
}

/** Make the line under a table that says which rows are shown, with buttons to others. */
export function pager({ onMove }) {
  const text = h("span", { class: "number" });
  let at = { offset: 0, limit: 50, total: 0 };
  const back = h("button", { type: "button", click: () => onMove(Math.max(at.offset - at.limit, 0)) }, "‹ Previous");
  const on = h("button", { type: "button", click: () => onMove(at.offset + at.limit) }, "Next ›");
  const element = h("div", { class: "pager" }, text, h("span", { class: "toolbar" }, back, on));

  function draw(offset, limit, total) {
    at = { offset, limit, total };
    const last = Math.min(offset + limit, total);
    text.textContent = total ? `${count(offset + 1)} to ${count(last)} of ${count(total)}` : "";
    back.disabled = offset === 0;
    on.disabled = last >= total;
    element.hidden = total <= limit && offset === 0;
  }

  return { element, draw };
}

/** Go to the last page where an offset is past the end; return whether it was. */
export function pageAt(page, offset, limit, total) {
  if (offset === 0 || offset < total) return false;
  page.correct({ offset: Math.max(Math.ceil(total / limit) - 1, 0) * limit || null }, true);
  return true;
}
