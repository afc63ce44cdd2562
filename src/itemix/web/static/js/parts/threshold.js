// The least support: one slider in all views that have one, and questions that are asked where it can be met.
import { count, thresholdText } from "../format.js";
import { logSlider } from "./slider.js";

/** Make the slider. `askAt` asks a question, if need be at the lowest threshold at which it can be answered. */
export function thresholdSlider(page, label = "Least support") {
  const { about } = page;
  const slider = logSlider({
    label,
    low: about.lowest_min_support,
    high: 1,
    unit: "%",
    factor: 100,
    onChange: (value, how) => page.change({ min_support: value, offset: null }, how),
  });

  /** Return the answer, and what to say where it is one for another threshold. */
  async function askAt(path, question) {
    try {
      return { answer: await page.ask(path, question), said: null };
    } catch (error) {
      const lowest = error.lowest ?? null;
      if (lowest === null || lowest <= Number(question.min_support)) throw error;
      // No slider goes to where nothing can be had, and the address says what is shown.
      about.lowest_min_support = Math.max(about.lowest_min_support, lowest);
      slider.setLowest(lowest);
      const answer = await page.ask(path, { ...question, min_support: lowest });
      page.correct({ min_support: lowest });
      slider.set(lowest);
      const why = error.code === "too_slow" ? "the search takes too long" : `there are more than ${count(about.max_itemsets)} itemsets`;
      const said = `At ${thresholdText(Number(question.min_support))} ${why}. Shown is what there is from ${thresholdText(lowest)}, the lowest that is possible.`;
      return { answer, said };
    }
  }

  return {
    element: slider.element,
    askAt,
    set: (value) => {
      slider.setLowest(about.lowest_min_support);
      slider.set(value);
    },
  };
}

/** Return the least support that is asked for: that of the selection, or one that a few hundred sets reach. */
export function thresholdOf(settings, about) {
  return settings.get("min_support") ?? about.first_min_support;
}
