// What the model itself says against its answers, beside them: that its intervals do not hold, or are not tested.
import { h } from "../dom.js";

/** Return a line with what is wrong with a fit, or null. */
export function doubts(about) {
  const poor = about.checks.filter(({ verdict }) => verdict === "poor");
  if (poor.length === 0) return null;
  return h("p", { class: "notice doubts" }, poor.map(({ sentence }) => sentence).join(" "));
}

/** What the data is called in tables: agreement with what a model was fitted to says little. */
export function dataName(about) {
  return about.is_training ? "Training data" : "Data";
}

/** Columns of a table with the share of the data, and of the test data. */
export function supportColumns(about, written) {
  const both = [
    [about.n_transactions, dataName(about), "exact"],
    [about.n_test, "Test data", "tested"],
  ];
  return both
    .filter(([n]) => n !== null)
    .map(([, label, name]) => ({ label, class: "number on-wide-screens", cell: (row) => written(row[name]) }));
}
