// Light or dark: as the system has it, until the button says otherwise.
import { refill, svg } from "./dom.js";

const KEY = "itemix-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const SUN = "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10ZM12 1v3M12 20v3M1 12h3M20 12h3M4.2 4.2l2.1 2.1M17.7 17.7l2.1 2.1M4.2 19.8l2.1-2.1M17.7 6.3l2.1-2.1";
const MOON = "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z";

function isDark() {
  const chosen = localStorage.getItem(KEY);
  return chosen ? chosen === "dark" : system.matches;
}

/** Let a button switch the theme. */
export function startTheme(button) {
  function apply() {
    const chosen = localStorage.getItem(KEY);
    if (chosen) document.documentElement.dataset.theme = chosen;
    const dark = isDark();
    button.setAttribute("aria-label", dark ? "Switch to the light theme" : "Switch to the dark theme");
    const shape = svg("path", { d: dark ? SUN : MOON, fill: "none", stroke: "currentColor", "stroke-width": 1.7 });
    refill(button, svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, shape));
  }
  button.addEventListener("click", () => {
    localStorage.setItem(KEY, isDark() ? "light" : "dark");
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}
