// The kinds of transactions as bubbles: near each other if alike, as large as their share.
import { h, refill } from "../dom.js";
import { cropped, share } from "../format.js";
import { points } from "./points.js";

const PHONE = matchMedia("(max-width: 760px)");
const [NAMED, NAMED_ON_PHONES] = [14, 5]; // more labels would cover each other
const LARGEST = 34;

/** Make the map; `draw` gets the segments, and the number of the component that is chosen. */
export function segmentMap(page, { onChoose }) {
  const text = h("p", { class: "soft small" });
  const picture = points({ name: `${page.model}-map`, noun: "kinds of transactions", onChoose: ({ numbers }) => onChoose(numbers[0]), height: 440 });

  function draw(segments, number) {
    const most = Math.max(...segments.map(({ weight }) => weight), 1e-9);
    picture.draw({
      points: segments.map((one, at) => {
        const isChosen = one.numbers.includes(number);
        const joined = one.numbers.length > 1 ? `\n${one.numbers.length} components` : "";
        return {
          x: one.x,
          y: one.y,
          numbers: one.numbers,
          r: Math.max(LARGEST * Math.sqrt(one.weight / most), 3),
          label: at < (PHONE.matches ? NAMED_ON_PHONES : NAMED) || isChosen ? cropped(one.name.split(", ").slice(0, 2).join(", "), 30) : null,
          isChosen,
          text: `${one.name}\n${share(one.weight)} of transactions, ${one.mean_length.toFixed(1)} items each${joined}${one.nearest ? `\nmost like: ${one.nearest}` : ""}`,
        };
      }),
      x: { label: "", isHidden: true },
      y: { label: "", isHidden: true },
      opacity: 0.55,
      isSquare: true,
    });
    refill(text, segments.length > 1 ? "Kinds that are alike lie near each other (Jensen-Shannon distance); the area is the share of transactions." : "There is one kind.");
  }

  return { element: h("figure", { class: "segment-map" }, picture.element, text), draw };
}
