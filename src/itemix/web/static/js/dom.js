// Elements in one call. Texts are always text nodes: a name can never become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an HTML element: properties that are functions are listeners, all others are attributes. */
export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Make an SVG element in the same way. */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Put other children into an element. */
export function refill(element, ...children) {
  element.replaceChildren(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return element;
}

let last = 0;

/** Return an id that no other element has. */
export function freshId(prefix) {
  last += 1;
  return `${prefix}-${last}`;
}

/** Draw into an element, and again whenever its width changes; `draw` gets the width. */
export function fitted(element, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth && element.clientWidth !== width) {
      width = element.clientWidth;
      draw(width);
    }
  }).observe(element);
}

/** What makes a drawn thing a button for mouse, keyboard and screen reader. */
export function asButton(label, isPressed, act) {
  return {
    role: "button",
    tabindex: "0",
    "aria-label": label,
    "aria-pressed": String(isPressed),
    click: act,
    keydown: (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        act();
      }
    },
  };
}

const MOVES = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Make a picture with many buttons one stop of the Tab key: the arrow keys move among them, in their order. */
export function oneStop(picture, buttons = [...picture.querySelectorAll("[role=button]")]) {
  const stopAt = (button) => buttons.forEach((one) => one.setAttribute("tabindex", one === button ? "0" : "-1"));
  stopAt(buttons.find((one) => one.getAttribute("aria-pressed") === "true") ?? buttons[0]);
  picture.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    if (!(event.key in MOVES) || at < 0) return;
    event.preventDefault();
    const next = buttons[(at + MOVES[event.key] + buttons.length) % buttons.length];
    stopAt(next);
    next.focus();
  });
  return picture;
}

/** Put a new picture into a place, and give the focus back to the button of the same name. */
export function redraw(place, picture) {
  const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  refill(place, picture);
  if (focused === null) return;
  [...place.querySelectorAll("[role=button]")].find((one) => one.getAttribute("aria-label") === focused)?.focus({ preventScroll: true });
}
