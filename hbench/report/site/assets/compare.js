// Two or more models side by side: differences on the same records with their intervals, and where each model stands.
(() => {
  "use strict";
  const { forms, number, swatch } = globalThis.hbenchFigures;

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // The place of a pair among all pairs, in the order of itertools.combinations.
  const pairPlace = (count, a, b) => (a * (2 * count - a - 1)) / 2 + b - a - 1;

  // Numbers of a pair, seen from `a`: difference, lo, hi, P(a better), adjusted p, rows needed.
  const pairOf = (data, task, a, b) => {
    const numbers = data.pairs[task][a < b ? pairPlace(data.models.length, a, b) : pairPlace(data.models.length, b, a)];
    if (a < b) return numbers;
    const [difference, lo, hi, better, p, rows] = numbers;
    const minus = (value) => (value === null ? null : -value);
    return [minus(difference), minus(hi), minus(lo), better === null ? null : 1 - better, p, rows];
  };

  const table = (caption, heads, rows) => {
    const made = element("table", { class: "plain" },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads.map(([head, kind]) => element("th", { scope: "col", class: kind }, head)))),
      element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell, i) => (i ? element("td", { class: heads[i][1] }, cell) : element("th", { scope: "row" }, cell)))))),
    );
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, made);
  };

  const prepare = (section) => {
    const data = JSON.parse(section.querySelector('script[type="application/json"]').textContent);
    const form = section.querySelector("form");
    const [canvas, result] = [section.querySelector(".canvas"), section.querySelector(".result")];
    // Choices are in the order of the leaderboard; numbers in that of the data.
    const order = [...form.elements.reference.options].map((_, i) => data.order[i]);

    const show = () => {
      const reference = order[form.elements.reference.selectedIndex];
      const others = [...form.querySelectorAll('input[name="other"]:checked')].map((box) => order[Number(box.value)]).filter((other) => other !== reference);
      canvas.replaceChildren();
      result.replaceChildren();
      if (!others.length) {
        result.append(element("p", { class: "quiet" }, "Choose at least one other model."));
        return;
      }
      const metrics = [...new Set(data.tasks.map((task) => task.metric))];
      const panels = element("div", { class: "facets" });
      const space = canvas.clientWidth || 640;
      const count = Math.max(1, Math.min(metrics.length, Math.floor(space / 380)));
      for (const metric of metrics) {
        const rows = data.tasks.flatMap((task, t) => (task.metric === metric
          ? others.map((other) => ["", task.name, "", data.models[other], ...pairOf(data, t, reference, other).slice(0, 3)])
          : []));
        const spec = { models: data.colours, x: { label: `${metric}: ${data.models[reference]} less the other`, zero: true } };
        if (!rows.some((row) => row[4] !== null)) continue;
        const svg = forms.dots(spec, rows, Math.min(620, (space - 24 * (count - 1)) / count));
        svg.setAttribute("aria-label", `Differences in ${metric}. The numbers are in the table below.`);
        panels.append(element("div", { class: "facet" }, element("p", { class: "facet-name" }, metric), svg));
      }
      if (others.length > 1) {
        canvas.append(element("div", { class: "legend" }, ...others.map((i) => element("span", {}, swatch(data.colours, data.models[i]), data.models[i]))));
      }
      canvas.append(panels);

      const names = [reference, ...others];
      result.append(table("Where they stand", [["Column", ""], ...names.map((i) => [data.models[i], "number"])],
        data.columns.map((column, c) => ({ column, c })).filter(({ c }) => data.main[c]).map(({ column, c }) => [column, ...names.map((i) => {
          const [value, lo, hi] = data.standing[c][data.standing_models.indexOf(data.models[i])];
          return value === null ? "–" : `${number(value)}${lo === null ? "" : ` (${number(lo)} to ${number(hi)})`}`;
        })])));
      const heads = [["Task", ""], ["Metric", ""], ["Against", ""], ["Difference", "number"], ["Interval", ""], ["P(first better)", "number"], ["p", "number"], ["Rows needed", "number"]];
      result.append(table(`${data.models[reference]} against the others, task by task`, heads,
        data.tasks.flatMap((task, t) => others.map((other) => {
          const [difference, lo, hi, better, p, needed] = pairOf(data, t, reference, other);
          return [task.name, task.metric, data.models[other], number(difference), lo === null ? "–" : `${number(lo)} to ${number(hi)}`,
            number(better), number(p), needed === null ? "–" : Math.ceil(needed).toLocaleString("en")];
        }))));
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    show();
  };

  document.querySelectorAll("[data-comparison]").forEach(prepare);
})();
