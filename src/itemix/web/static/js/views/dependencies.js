// Dependencies: which items attract or avoid each other.
import { fitted, h, redraw, refill } from "../dom.js";
import { count, measure, percent, plural, times } from "../format.js";
import { supportColumns } from "../parts/doubts.js";
import { segments } from "../parts/fields.js";
import { matrix } from "../parts/matrix.js";
import { network } from "../parts/network.js";
import { filters } from "../parts/filters.js";
import { head } from "../parts/head.js";
import { noticePlace, worker } from "../parts/notice.js";
import { itemPicker } from "../parts/picker.js";
import { itemset, joinedNames } from "../parts/sets.js";
import { logSlider } from "../parts/slider.js";
import { table } from "../parts/table.js";

export const title = "Dependencies";

const MOST_PAIRS = 300;
const PAIRS_AT_FIRST = 40;
const ROWS = 15;
const NONE = {
  both: "The model takes all items to be independent: no pair occurs more often, or less often, than chance has it.",
  positive: "No two items attract each other in this model.",
  negative: "No two items avoid each other in this model.",
};

export function create(page) {
  const notice = noticePlace();
  const summary = h("p", { class: "count" });
  const picture = h("div");
  const drawing = h("section", { class: "card", "aria-label": "The picture" }, key(), picture);
  const controls = {
    strength: logSlider({
      label: "Least strength (mutual information)",
      low: 1e-6,
      high: 1,
      unit: "bits",
      onChange: (value, how) => page.change({ strength: value }, how),
    }),
    sign: segments({
      label: "Which pairs",
      options: [
        ["both", "Both"],
        ["positive", "Attract"],
        ["negative", "Avoid"],
      ],
      onChange: (sign) => page.change({ sign: sign === "both" ? null : sign, strength: null }),
    }),
    picture: segments({
      label: "Picture",
      options: [
        ["network", "Network"],
        ["matrix", "Matrix"],
      ],
      onChange: (kind) => page.change({ picture: kind === "network" ? null : kind }),
    }),
    item: itemPicker({
      label: "Items to look at",
      find: (search, limit) => page.ask("items", { search, limit }),
      onChange: (items) => page.change({ items }),
      isShownAbove: true,
    }),
  };
  const neighbours = pairTable(page, "Neighbours of the chosen item");
  const strongest = pairTable(page, "The strongest pairs");
  const sideTitle = h("h2");
  const side = h("section", { class: "card", "aria-label": "Pairs" }, sideTitle, neighbours.element);
  const results = h(
    "div",
    { class: "view" },
    h("div", { class: "with-side wide-side" }, drawing, side),
    h("section", { class: "card" }, h("h2", {}, "Strongest pairs"), strongest.element),
  );
  const element = h(
    "div",
    { class: "view" },
    head(title, "Pairs of items that occur together more often, or less often, than independent items would."),
    h(
      "section",
      { class: "card controls", "aria-label": "Which pairs" },
      h("div", { class: "threshold" }, summary, controls.strength.element),
      filters(controls.sign.element, controls.picture.element, controls.item.element),
    ),
    notice.element,
    results,
  );

  let known = { sign: null, answer: null };
  let shown = null; // what the picture shows, to draw it again when the width changes
  fitted(picture, drawPicture);

  const refresh = worker({
    notice,
    dimmed: results,
    others: [summary],
    work: async (params) => {
      const wanted = params.getAll("items");
      const sign = params.get("sign") ?? "both";
      if (known.sign !== sign) {
        known = { sign, answer: await page.ask("dependencies", { sign, limit: MOST_PAIRS }) };
      }
      const { pairs, items, n_items: compared } = known.answer;
      const strength = Number(params.get("strength") ?? pairs[Math.min(PAIRS_AT_FIRST, pairs.length) - 1]?.information ?? 1);
      showStrength(pairs, strength);
      const chosen = items.find(({ item }) => String(item) === wanted[0])?.item ?? wanted[0] ?? null;
      const strong = pairs.filter((pair) => pair.information >= strength * (1 - 1e-9));
      const linked = new Set(strong.flatMap((pair) => [pair.item, pair.other]));
      shown = {
        kind: params.get("picture") ?? "network",
        pairs: strong,
        items: items.filter(({ item }) => linked.has(item)),
        chosen,
      };
      summary.textContent = strong.length ? `${plural(strong.length, "pair")} of ${plural(linked.size, "item")}` : "No pairs";
      page.announce(summary.textContent);
      drawPicture();
      strongest.draw(strong.slice(0, ROWS));
      await drawNeighbours(wanted, sign);
      if (pairs.length === 0) return NONE[sign];
      return compared < page.about.n_items ? `Compared are the ${count(compared)} most frequent items; choose any other to see its neighbours.` : null;
    },
  });

  function showStrength(pairs, strength) {
    const values = pairs.map((pair) => pair.information).filter((value) => value > 0);
    if (values.length > 1) controls.strength.setBounds(Math.min(...values), Math.max(...values));
    controls.strength.set(strength);
  }

  function drawPicture() {
    if (!shown || !picture.clientWidth) return;
    const onChoose = (item) => page.change({ items: item === shown.chosen ? null : item });
    const draw = shown.kind === "matrix" ? matrix : network;
    redraw(picture, shown.pairs.length ? draw({ ...shown, width: picture.clientWidth, onChoose }) : emptyText());
  }

  async function drawNeighbours(items, sign) {
    refill(sideTitle, ...(items.length === 0 ? ["Neighbours"] : ["Neighbours of ", joinedNames(items, () => ", ")].flat()));
    const answer = items.length === 0 ? { pairs: [] } : await page.ask("dependencies", { sign, items, limit: ROWS });
    neighbours.draw(answer.pairs, items.length === 1 ? items[0] : null);
  }

  return {
    element,
    update: (params) => {
      controls.sign.set(params.get("sign") ?? "both");
      controls.picture.set(params.get("picture") ?? "network");
      controls.item.set(params.getAll("items"));
      return refresh(params);
    },
  };
}

function key() {
  return h(
    "p",
    { class: "key" },
    h("span", { class: "positive" }, "occur together more often"),
    h("span", { class: "negative" }, "less often than independent items"),
    h("span", { class: "plain" }, "the stronger a line or cell, the more one item says of the other"),
  );
}

function emptyText() {
  return h("p", { class: "empty" }, "No pair is this strong. Move the slider to the left.");
}

/** A table of pairs; of the neighbours of an item, only the other one is named. */
function pairTable(page, caption) {
  let from = null;
  const namesOf = (pair) => {
    if (from === null) return [pair.item, pair.other];
    return [String(pair.item) === from ? pair.other : pair.item];
  };
  const drawn = table({
    caption,
    columns: () => [
      {
        label: from === null ? "Pair" : "Item",
        class: "wide",
        cell: (pair) => itemset(namesOf(pair), page.hrefOfSet([pair.item, pair.other])),
      },
      { label: "Together", class: "number", cell: (pair) => percent(pair.probability, 2) },
      { label: "If independent", class: "number on-wide-screens", cell: (pair) => percent(pair.expected, 2) },
      ...supportColumns(page.about, (support) => percent(support, 2)),
      { label: "Lift", class: "number", cell: (pair) => times(pair.lift) },
      { label: "Bits", class: "number", cell: (pair) => measure(pair.information) },
    ],
    empty: caption.startsWith("Neighbours") ? "Choose an item in the picture or in the field above." : "None.",
  });
  return {
    element: drawn.element,
    draw: (pairs, item = null) => {
      from = item;
      drawn.draw(pairs);
    },
  };
}
