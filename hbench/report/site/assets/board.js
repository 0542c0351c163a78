// Filters of the leaderboards. Choosing a topic, kind, mode or level ranks the models on those tasks alone; the numbers and
// intervals of every such choice were computed with the page, from the same resamples as the whole board.
(() => {
  "use strict";
  const AXES = ["topic", "kind", "mode", "level"];
  const SVG = "http://www.w3.org/2000/svg";

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const drawn = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  // The same mark as the server's: see marks.py.
  const whisker = ([value, lo, hi], least, most) => {
    const at = (number) => (most > least ? (100 * (number - least)) / (most - least) : 50).toFixed(1);
    const svg = drawn("svg", { class: "whisker", viewBox: "-4 0 108 12", "aria-hidden": "true" });
    if (lo !== null) svg.append(drawn("line", { x1: at(lo), x2: at(hi), y1: 6, y2: 6 }));
    svg.append(drawn("circle", { cx: at(value), cy: 6, r: 3.2 }));
    return svg;
  };

  const selectionTable = (board, chosen, wanted, model) => {
    const known = chosen.rows.flat().filter((number) => number !== null);
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const rows = board.models.map((name, i) => ({ name, numbers: chosen.rows[i] }));
    rows.sort((a, b) => (a.numbers[0] ?? Infinity) - (b.numbers[0] ?? Infinity));
    const body = element("tbody");
    rows.forEach(({ name, numbers }, place) => {
      if (!name.toLowerCase().includes(model)) return;
      const [value, lo, hi] = numbers;
      const link = board.links.get(name).cloneNode(true);
      const told = value === null ? "lacks some of these tasks" : lo === null ? "–" : `${lo.toFixed(1)} to ${hi.toFixed(1)}`;
      const mark = element("td", { class: "drawn" });
      if (value !== null) mark.append(whisker(numbers, least, most));
      body.append(
        element("tr", {},
          element("td", { class: "number place" }, value === null ? "–" : String(place + 1)),
          element("th", { scope: "row" }, link),
          element("td", { class: "number" }, value === null ? "–" : value.toFixed(1)),
          mark,
          element("td", { class: "quiet interval" }, told),
        ),
      );
    });
    const words = AXES.filter((axis) => wanted[axis]).map((axis) => `${axis} ${wanted[axis]}`).join(", ");
    const tasks = `${chosen.tasks} task${chosen.tasks === 1 ? "" : "s"}`;
    const heads = [["#", "number"], ["Model", ""], ["Mean rank", "number"], ["", "drawn"], ["Interval", ""]];
    return element("table", { class: "leaderboard" },
      element("caption", {}, `Mean rank over ${tasks}: ${words}`),
      element("thead", {}, element("tr", {}, ...heads.map(([head, kind]) => element("th", { scope: "col", class: kind }, head)))),
      body,
    );
  };

  const boards = [...document.querySelectorAll("[data-board]")].map((section) => ({
    ...JSON.parse(section.querySelector('script[type="application/json"]').textContent),
    section,
    suite: section.dataset.suite,
    whole: section.querySelector(".scroll"),
    rows: [...section.querySelectorAll("table.leaderboard tbody tr")],
    selection: section.querySelector(".selection"),
    links: new Map([...section.querySelectorAll("table.leaderboard tbody tr")].map((row) => [row.dataset.model, row.querySelector("a")])),
  }));
  // Names as the page shows them, which is how its rows are found.
  for (const board of boards) board.models = board.rows.map((row) => row.dataset.model);

  const form = document.querySelector("[data-board-filters]");
  const status = form.querySelector(".status");
  const apply = () => {
    const wanted = Object.fromEntries([...form.elements].filter((field) => field.name).map((field) => [field.name, field.value.trim()]));
    const axes = AXES.filter((axis) => wanted[axis]);
    const model = wanted.model.toLowerCase();
    let shown = 0;
    for (const board of boards) {
      const fits = (!wanted.suite || wanted.suite === board.suite) && axes.every((axis) => board.axes[axis].includes(wanted[axis]));
      // An axis with one value does not part this board's tasks.
      const parting = axes.filter((axis) => board.axes[axis].length > 1);
      const chosen = parting.length
        ? board.selections.find((one) => AXES.every((axis) => (one[axis] ?? "") === (parting.includes(axis) ? wanted[axis] : "")))
        : null;
      // A combination that no task has is not among the selections.
      board.section.hidden = !fits || (parting.length > 0 && !chosen);
      if (board.section.hidden) continue;
      shown += 1;
      for (const row of board.rows) row.hidden = !row.dataset.model.toLowerCase().includes(model);
      board.whole.hidden = Boolean(chosen);
      board.selection.hidden = !chosen;
      board.selection.replaceChildren();
      if (chosen) board.selection.append(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${board.suite}, selected tasks` }, selectionTable(board, chosen, wanted, model)));
    }
    status.textContent = axes.length || wanted.suite ? `${shown} of ${boards.length} leaderboards` : "";
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
})();
