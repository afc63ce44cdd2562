// Links to files with all rows of a table.
import { download, hasToken, questionUrl } from "../api.js";
import { h } from "../dom.js";

const FORMATS = [
  ["csv", "CSV"],
  ["parquet", "Parquet"],
];

/** Make the links; `set` gets the question whose answer they hold. */
export function downloads(page, path) {
  const links = FORMATS.map(([format, text]) => {
    const name = `${page.model}-${path}.${format}`;
    const click = (event) => {
      if (!hasToken()) return;
      event.preventDefault();
      download(link.href, name);
    };
    const link = h("a", { class: "button", download: name, "aria-label": `Download all as ${text}`, click }, text);
    return link;
  });
  return {
    element: h("div", { class: "toolbar" }, h("span", { class: "soft small" }, "Download all"), links),
    set: (question) => {
      links.forEach((link, at) => {
        link.href = questionUrl(`${path}.${FORMATS[at][0]}`, { ...question, model: page.model });
      });
    },
  };
}
