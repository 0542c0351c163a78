// Light or dark: the reader's system decides, unless the reader does. Runs before the page is drawn, so that nothing flashes.
(() => {
  "use strict";
  const KEY = "hbench-theme";
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // Storage is forbidden, as in some private windows: the system's choice remains.
    }
  };
  const store = (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // As above: the choice holds for this page.
    }
  };

  const known = stored();
  if (known === "dark" || known === "light") root.dataset.theme = known;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("button.theme");
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
    const show = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
    };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      store(root.dataset.theme);
      show();
    });
    dark.addEventListener("change", show);
    show();
    button.hidden = false;
  });
})();
