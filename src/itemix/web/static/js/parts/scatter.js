// Rules as points: support to the right, confidence upwards, the warmer the higher the lift.
import { h, refill } from "../dom.js";
import { count, listed, percent, times } from "../format.js";
import { colourKey, points } from "./points.js";

const FLAT = 1.001; // lifts that differ by less are drawn alike

/** Make a cloud of points; `draw` gets columns of both sides, support, confidence and lift, how many rules there are, and the box. */
export function scatter(page) {
  const key = h("div", { class: "small soft" });
  const picture = points({
    name: `${page.model}-rules`,
    noun: "rules",
    onChoose: ({ left, right }) => page.open(left, right),
    onBox: (box) => page.change({ box, offset: null }),
    height: 420,
  });

  function draw(found, total, box) {
    const lifts = found.lift.map((value) => value ?? 1);
    const [least, most] = [Math.min(...lifts), Math.max(...lifts)];
    const isFlat = lifts.length === 0 || most < least * FLAT;
    const width = Math.log(most / least);
    picture.draw({
      points: found.support.map((x, at) => ({
        x,
        y: found.confidence[at],
        left: found.antecedents[at],
        right: found.consequents[at],
        heat: isFlat ? 0 : Math.log(lifts[at] / least) / width,
        text: `${listed(found.antecedents[at])} → ${listed(found.consequents[at])}\nsupport ${percent(x)}, confidence ${percent(found.confidence[at])}, lift ${times(found.lift[at])}`,
      })),
      x: { label: "support", type: "log", unit: "%" },
      y: { label: "confidence", unit: "%" },
      box: box.length ? box : null,
    });
    const which = found.support.length < total && !box.length ? `The first ${count(found.support.length)} rules of the table. ` : "";
    const colours = isFlat ? (lifts.length ? h("p", {}, `All have a lift of ${times(most)}.`) : null) : colourKey(`lift ${times(least)}`, times(most));
    refill(key, colours, h("p", {}, lifts.length ? `${which}Choose a dot to see its evidence.` : ""));
  }

  return { element: h("figure", { class: "scatter" }, picture.element, key), draw };
}
