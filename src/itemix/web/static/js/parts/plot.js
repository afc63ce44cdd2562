// Observable Plot and D3, loaded from this host when the first picture is drawn; and pictures as files.
import { h } from "../dom.js";

const FILES = ["static/vendor/d3.min.js", "static/vendor/plot.min.js"];
let loading = null;

/** Return the two libraries. */
export function libraries() {
  loading ??= FILES.reduce((before, file) => before.then(() => loaded(file)), Promise.resolve()).then(() => ({ Plot: window.Plot, d3: window.d3 }));
  return loading;
}

function loaded(file) {
  return new Promise((done, failed) => {
    const script = h("script", { src: file, load: done, error: () => failed(new Error("The pictures could not be loaded. Is itemix still running?")) });
    document.head.append(script);
  });
}

// What a picture looks like comes from style sheets, which a file does not have.
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "display"];

/** Return the text of a picture that stands alone. */
function alone(picture) {
  const copy = picture.cloneNode(true);
  const [from, to] = [[picture, ...picture.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) to[at].setAttribute(name, style.getPropertyValue(name));
  });
  copy.querySelectorAll("style, .brush, [data-mark=tip]").forEach((element) => element.remove());
  copy.removeAttribute("tabindex");
  const { width, height } = picture.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", width);
  ground.setAttribute("height", height);
  ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("background-color"));
  copy.prepend(ground);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Make the buttons that save a picture; `find` returns it. */
export function savers(find, name) {
  const asSvg = () => {
    const { text } = alone(find());
    save(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
  };
  const asPng = async () => {
    const { text, width, height } = alone(find());
    const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = h("canvas", { width: 3 * width, height: 3 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 3 * width, 3 * height);
    URL.revokeObjectURL(url);
    canvas.toBlob((blob) => save(blob, `${name}.png`));
  };
  return [
    h("button", { type: "button", class: "quiet small", "aria-label": "Save the picture as SVG", click: asSvg }, "SVG"),
    h("button", { type: "button", class: "quiet small", "aria-label": "Save the picture as PNG", click: asPng }, "PNG"),
  ];
}
