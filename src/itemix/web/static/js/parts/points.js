// Things as points: with tooltips, a box that is drawn to choose some, zoom, and files. Observable Plot draws them.
import { asButton, fitted, h, oneStop, redraw, refill } from "../dom.js";
import { short } from "../format.js";
import { libraries, savers } from "./plot.js";

const HEIGHT = 380;
const BARE = { marginLeft: 40, marginRight: 40, marginTop: 40, marginBottom: 40 };
const MARGIN = { marginLeft: 58, marginRight: 16, marginTop: 12, marginBottom: 40 };

// Triangles that point up and down, as D3 draws symbols: of an area.
const TRIANGLES = { up: triangle(-1), down: triangle(1) };

function triangle(sign) {
  return {
    draw: (context, size) => {
      const half = 0.92 * Math.sqrt(size / 2);
      context.moveTo(0, sign * half * 1.15);
      context.lineTo(half, -sign * half * 0.85);
      context.lineTo(-half, -sign * half * 0.85);
      context.closePath();
    },
  };
}

/**
 * Make the picture. `draw` gets points of { x, y, text, label, heat, r, kind } and what the axes are.
 *
 * `onChoose` gets the point that is clicked; `onBox` the box [x from, x to, y from, y to] that is drawn, or null.
 * A `kind` of "up" and "down" is a triangle, "other" a small circle that is no button, all others are circles.
 */
export function points({ name, noun, onChoose, onBox = null, height = HEIGHT }) {
  const place = h("div", { class: "points" });
  const boxed = h("div");
  const tools = h("div", { class: "toolbar picture-tools" });
  let last = null;
  let view = null; // the domains after zooming: [x from, x to, y from, y to]
  let scales = null;
  let run = 0;

  const zoomBy = (factor) => () => {
    const now = view ?? last.domain;
    view = [...zoomed(now.slice(0, 2), factor, last.x), ...zoomed(now.slice(2), factor, last.y)];
    paint(place.clientWidth);
  };
  const toBox = () => {
    view = last.box;
    paint(place.clientWidth);
  };
  const reset = h("button", { type: "button", class: "quiet small", click: () => ((view = null), paint(place.clientWidth)) }, "Whole picture");
  const zoomToBox = h("button", { type: "button", class: "quiet small", click: toBox }, "Zoom to the box");
  refill(
    tools,
    h("button", { type: "button", class: "quiet small", "aria-label": "Zoom in", click: zoomBy(0.5) }, "+"),
    h("button", { type: "button", class: "quiet small", "aria-label": "Zoom out", click: zoomBy(2) }, "−"),
    zoomToBox,
    reset,
    savers(() => place.querySelector("svg"), name),
  );

  function draw(what) {
    const [xs, ys] = [what.points.map(({ x }) => x), what.points.map(({ y }) => y)];
    const domain = what.domain ?? [...spanned(xs, what.x), ...spanned(ys, what.y)];
    last = { box: null, diagonal: false, ...what, domain: what.diagonal ? common(domain) : domain };
    // The room is there before the picture is, so that nothing moves when it comes.
    place.style.minHeight = what.points.length ? `${height}px` : "";
    if (place.clientWidth) paint(place.clientWidth);
    drawBox();
  }

  async function paint(width) {
    if (!last || !width) return;
    const now = (run += 1);
    const { Plot, d3 } = await libraries();
    if (now !== run) return;
    tools.hidden = last.points.length === 0;
    reset.hidden = view === null;
    zoomToBox.hidden = last.box === null;
    if (last.points.length === 0) {
      refill(place);
      return;
    }
    const [x0, x1, y0, y1] = view ?? last.domain;
    const shown = last.points.filter(({ x, y }) => within(x, x0, x1, last.x) && within(y, y0, y1, last.y));
    const [buttons, others] = [shown.filter(({ kind }) => kind !== "other"), shown.filter(({ kind }) => kind === "other")];
    const at = { x: (d) => clamped(d.x, x0, last.x), y: (d) => clamped(d.y, y0, last.y) };
    const picture = Plot.plot({
      className: "plot",
      width,
      height,
      ...(last.x.isHidden ? BARE : MARGIN),
      x: axis(last.x, [x0, x1], width / 90),
      y: axis(last.y, [y0, y1], height / 60),
      r: { type: "identity" },
      marks: [
        last.x.isHidden ? null : Plot.gridX({ stroke: "var(--line)", strokeOpacity: 0.7, ticks: ticksOf(last.x, [x0, x1], width / 90) }),
        last.x.isHidden ? null : Plot.gridY({ stroke: "var(--line)", strokeOpacity: 0.7, ticks: ticksOf(last.y, [y0, y1], height / 60) }),
        last.diagonal ? Plot.line([Math.max(x0, y0), Math.min(x1, y1)].map((v) => [v, v]), { stroke: "var(--line-strong)", strokeDasharray: "5 4" }) : null,
        Plot.dot(others, { ...at, r: 2.4, stroke: "var(--line-strong)", className: "others" }),
        Plot.dot(buttons.toReversed(), {
          ...at,
          r: (d) => d.r ?? 4,
          ...(buttons.some(({ kind }) => kind) ? { symbol: { value: (d) => TRIANGLES[d.kind], scale: null } } : {}),
          fill: { value: (d) => (d.heat === undefined ? "var(--mark)" : colour(d.heat)), scale: null },
          stroke: { value: (d) => (d.isChosen ? "var(--text)" : "var(--surface)"), scale: null },
          strokeWidth: { value: (d) => (d.isChosen ? 2.2 : 0.6), scale: null },
          fillOpacity: last.opacity ?? 0.9,
          className: "finds",
        }),
        Plot.text(
          shown.filter(({ label }) => label).toSorted((a, b) => (b.isChosen === true) - (a.isChosen === true)),
          { ...at, text: "label", dy: -9, lineAnchor: "bottom", fill: "var(--text)", stroke: "var(--surface)", strokeWidth: 3.5, pointerEvents: "none", className: "labels" },
        ),
        Plot.tip(shown, Plot.pointer({ ...at, title: "text", fill: "var(--surface)", stroke: "var(--line-strong)", lineWidth: 26, maxRadius: 24 })),
      ].filter(Boolean),
    });
    picture.setAttribute("role", "group");
    picture.classList.add("picture");
    const axes = last.x.isHidden ? "" : `: ${last.y.label} against ${last.x.label}`;
    picture.setAttribute("aria-label", `${shown.length} ${noun}${axes}; arrow keys move among them`);
    scales = { x: picture.scale("x"), y: picture.scale("y") };
    const marks = asButtons(picture, buttons);
    if (onBox) brushing(d3, picture, width);
    nameMarks(picture);
    redraw(place, marks.length ? oneStop(picture, marks) : picture);
    keepApart(picture);
  }

  /** Points can be reached with the keyboard, the most important first. */
  function asButtons(picture, buttons) {
    const marks = [...picture.querySelectorAll(".finds > *")].toReversed();
    marks.forEach((mark, at) => {
      const point = buttons[at];
      for (const [key, value] of Object.entries(asButton(point.text, point.isChosen === true, () => onChoose(point)))) {
        if (typeof value === "function") mark.addEventListener(key, value);
        else mark.setAttribute(key, value);
      }
    });
    return marks;
  }

  function brushing(d3, picture, width) {
    const ground = [
      [MARGIN.marginLeft, MARGIN.marginTop],
      [width - MARGIN.marginRight, height - MARGIN.marginBottom],
    ];
    const brush = d3.brush().extent(ground).on("end", (event) => {
      if (!event.sourceEvent) return;
      if (!event.selection) {
        if (last.box) onBox(null);
        return;
      }
      const [[left, top], [right, bottom]] = event.selection;
      const ends = [scales.x.invert(left), scales.x.invert(right), scales.y.invert(bottom), scales.y.invert(top)];
      onBox(ends.map((value) => Number(value.toPrecision(3))));
    });
    // Behind the points, so that these can be clicked.
    const layer = d3.select(picture).insert("g", ".finds").attr("class", "brush").call(brush);
    if (last.box) {
      const [x0, x1, y0, y1] = last.box;
      const [[left, top], [right, bottom]] = ground;
      const inside = (value, low, high) => Math.min(Math.max(value, low), high);
      const [a, b] = [x0, x1].map((value) => inside(scales.x.apply(value), left, right));
      const [c, d] = [y1, y0].map((value) => inside(scales.y.apply(value), top, bottom));
      if (b > a && d > c) layer.call(brush.move, [[a, c], [b, d]]);
    }
  }

  /** The box as fields: what the mouse draws can be typed, too. */
  function drawBox() {
    if (!onBox || !last) return;
    const { box, x, y } = last;
    const names = [`${x.label}, from`, `${x.label}, to`, `${y.label}, from`, `${y.label}, to`];
    const given = box ?? last.domain;
    const factor = [x, x, y, y].map(({ unit }) => (unit === "%" ? 100 : 1));
    const take = () => {
      const values = fields.map((field, at) => Number(field.value) / factor[at]);
      if (values.every((value) => Number.isFinite(value)) && values[0] < values[1] && values[2] < values[3]) onBox(values);
    };
    const fields = names.map((label, at) => h("input", { type: "number", step: "any", "aria-label": label, value: short(given[at] * factor[at], 3), change: take }));
    const row = ({ label, unit }, from) => h("div", { class: "box-row" }, h("span", { class: "label" }, `${label}${unit ? ` (${unit})` : ""}`), h("span", { class: "pair" }, fields[from], h("span", { class: "soft" }, "to"), fields[from + 1]));
    const open = boxed.querySelector("details")?.open || false;
    const focused = [...boxed.querySelectorAll("input")].indexOf(document.activeElement);
    refill(
      boxed,
      h(
        "div",
        { class: "toolbar small soft" },
        box ? h("span", {}, "The table shows what is in the box.") : h("span", {}, "Drag a box to filter the table."),
        box ? h("button", { type: "button", class: "quiet small", click: () => onBox(null) }, "Remove the box") : null,
      ),
      h("details", { open }, h("summary", { class: "small soft" }, "Box in numbers"), h("div", { class: "box-fields" }, row(x, 0), row(y, 2))),
    );
    if (focused >= 0) boxed.querySelectorAll("input")[focused]?.focus({ preventScroll: true });
  }

  fitted(place, paint);
  return { element: h("div", { class: "points-part" }, tools, place, boxed), draw };
}

/** Plot labels groups that have no role, which says nothing to anybody: the labels become data. */
function nameMarks(picture) {
  const rename = () => {
    for (const group of picture.querySelectorAll("g[aria-label]:not([role])")) {
      group.dataset.mark = group.getAttribute("aria-label");
      group.removeAttribute("aria-label");
    }
  };
  rename();
  new MutationObserver(rename).observe(picture, { childList: true, subtree: true });
}

/** Labels stay within the picture; of those that would cover each other, that of the most important point. */
function keepApart(picture) {
  const room = picture.getBoundingClientRect();
  const kept = [];
  for (const label of picture.querySelectorAll(".labels text")) {
    const { left, right } = label.getBoundingClientRect();
    const shift = Math.max(room.left - left, 0) + Math.min(room.right - right, 0);
    if (shift) label.setAttribute("dx", shift);
    const box = label.getBoundingClientRect();
    if (kept.some((one) => box.left < one.right && one.left < box.right && box.top < one.bottom && one.top < box.bottom)) label.remove();
    else kept.push(box);
  }
}

/** The warmer, the higher; in both themes. */
export function colour(heat) {
  const share = 100 * Math.min(Math.max(heat, 0), 1);
  return `color-mix(in oklab, var(--scale-low), var(--scale-high) ${share.toFixed(1)}%)`;
}

/** The key of the colours, from one end to the other. */
export function colourKey(from, to) {
  return h("div", { class: "short-scale" }, h("div", { class: "scale-bar" }), h("div", { class: "intro small soft" }, h("span", {}, from), h("span", {}, to)));
}

function axis({ label, type, unit, isHidden }, domain, n) {
  if (isHidden) return { domain, axis: null };
  const tickFormat = unit === "%" ? (value) => `${short(100 * value)}%` : (value) => short(value, 3);
  return { type: type ?? "linear", domain, label, labelAnchor: "center", labelArrow: "none", ticks: ticksOf({ type }, domain, n), tickFormat };
}

/** Round numbers between two ends; on a logarithmic scale powers of ten, and where these are few more of them. */
function ticksOf({ type }, [low, high], n) {
  if (type !== "log") return Math.max(Math.round(n), 3);
  const found = [];
  const multiples = Math.log10(high / low) > n ? [1] : high / low > 30 ? [1, 3] : [1, 1.5, 2, 3, 5, 7];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) found.push(...multiples.map((one) => Number((one * power).toPrecision(4))));
  return found.filter((value) => value >= low && value <= high);
}

function spanned(values, { type }) {
  if (type === "log") {
    const positive = values.filter((value) => value > 0);
    return [Math.min(...positive) / 1.3, Math.max(...positive) * 1.25];
  }
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || 1) * 0.06;
  return [low - room, high + room];
}

function common([x0, x1, y0, y1]) {
  const [low, high] = [Math.min(x0, y0), Math.max(x1, y1)];
  return [low, high, low, high];
}

function zoomed([low, high], factor, { type }) {
  if (type === "log") {
    const [middle, half] = [Math.sqrt(low * high), Math.sqrt(high / low) ** factor];
    return [middle / half, middle * half];
  }
  const [middle, half] = [(low + high) / 2, (factor * (high - low)) / 2];
  return [middle - half, middle + half];
}

/** On a logarithmic scale, what does not occur lies on the edge. */
function clamped(value, low, { type }) {
  return type === "log" ? Math.max(value, low) : value;
}

function within(value, low, high, { type }) {
  return value <= high && (value >= low || (type === "log" && value <= 0));
}
