// One record as the viewer shows it: prompt, truth, and what one or two models said, how it was read, and how far off it is.
// All text from data and models is set as text, never as markup.
(() => {
  "use strict";
  const FEW = 4; // draws shown before "all draws"
  const SVG = "http://www.w3.org/2000/svg";

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children.filter((child) => child !== null));
    return made;
  };

  // Values

  const number = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : Math.abs(value) < 1000 ? String(Number(value.toPrecision(5))) : value.toLocaleString("en", { maximumFractionDigits: 1 }));
  const shown = (value) => {
    if (value === null || value === undefined) return "–";
    if (typeof value === "number") return number(value);
    return Array.isArray(value) ? value.map(shown).join(", ") : String(value);
  };
  const signed = (value) => (value > 0 ? `+${number(value)}` : number(value).replace("-", "−"));
  const difference = (a, b) => (typeof a === "number" && typeof b === "number" ? signed(a - b) : a === null || b === null || a === undefined || b === undefined ? "–" : shown(a) === shown(b) ? "same" : "other");

  // One line for each target, and for each label of a probability vector.
  const parts = (about, values) =>
    about.targets.flatMap((target, t) =>
      target.kind === "probability" && target.labels.length
        ? target.labels.map((_, l) => values?.[t]?.[l] ?? null)
        : [values?.[t] ?? null],
    );
  const names = (about) =>
    about.targets.flatMap((target) =>
      target.kind === "probability" && target.labels.length
        ? target.labels.map((label) => `${about.targets.length > 1 ? `${target.name}: ` : ""}${label}`)
        : [`${target.name}${target.unit ? `, ${target.unit}` : ""}`],
    );

  // Its parts

  const predictions = (about, models, place, answers) => {
    const heads = ["", "true"];
    const columns = [parts(about, about.truth[place])];
    if (about.no_change[place]) {
      heads.push("no change");
      columns.push(parts(about, about.no_change[place]));
    }
    models.forEach((model, i) => {
      const values = parts(about, answers[i]?.prediction);
      heads.push(model.label, "off by");
      columns.push(values, values.map((value, line) => difference(value, columns[0][line])));
    });
    if (models.length === 2) {
      const [a, b] = answers.map((one) => parts(about, one?.prediction));
      heads.push("first less second");
      columns.push(a.map((value, line) => difference(value, b[line])));
    }
    const rows = names(about).map((name, line) =>
      element("tr", {}, element("th", { scope: "row" }, name), ...columns.map((column) => element("td", { class: "number" }, element("bdi", {}, shown(column[line])))))),
      table = element("table", { class: "plain predictions" },
        element("caption", { class: "unseen" }, "Predictions beside the truth"),
        element("thead", {}, element("tr", {}, ...heads.map((head, i) => element("th", i ? { scope: "col", class: "number" } : { scope: "col" }, element("bdi", {}, head))))),
        element("tbody", {}, ...rows));
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Predictions beside the truth" }, table);
  };

  const bar = (share) => {
    const svg = document.createElementNS(SVG, "svg");
    for (const [key, value] of Object.entries({ class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(key, value);
    const rect = document.createElementNS(SVG, "rect");
    for (const [key, value] of Object.entries({ x: 0, y: 0, height: 8, width: (100 * share).toFixed(1) })) rect.setAttribute(key, value);
    svg.append(rect);
    return svg;
  };

  // Of a population: how often people and each model give each value, many values in twenty bins.
  const distribution = (about, models, answers) => {
    const flat = (all) => all.flatMap((values) => (values ? values.flat(Infinity) : [])).filter((value) => typeof value === "number");
    const sides = [["people", flat(about.truth)], ...models.map((model, i) => [model.label, flat((answers[i]?.draws ?? []).map((draw) => draw.values))])];
    const every = sides.flatMap(([, values]) => values);
    if (!every.length) return null;
    const distinct = [...new Set(every)].sort((a, b) => a - b);
    const [least, most] = [distinct[0], distinct.at(-1)];
    const bins = distinct.length <= 20 ? distinct.map((value) => [value, value]) : Array.from({ length: 20 }, (_, i) => [least + ((most - least) * i) / 20, least + ((most - least) * (i + 1)) / 20]);
    const place = (value) => (distinct.length <= 20 ? distinct.indexOf(value) : Math.min(19, Math.floor((20 * (value - least)) / (most - least))));
    const shares = sides.map(([, values]) => {
      const counts = bins.map(() => 0);
      for (const value of values) counts[place(value)] += 1;
      return counts.map((count) => (values.length ? count / values.length : 0));
    });
    const top = Math.max(...shares.flat());
    const table = element("table", { class: "plain" },
      element("caption", {}, "How often each value is given"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "value"), ...sides.map(([name, values]) => element("th", { scope: "col" }, `${name} (${values.length.toLocaleString("en")})`)))),
      element("tbody", {}, ...bins.map(([from, to], i) => element("tr", {}, element("th", { scope: "row", class: "number" }, from === to ? number(from) : `${number(from)} to ${number(to)}`),
        ...shares.map((side) => element("td", { class: "drawn share" }, bar(side[i] / top), `${(100 * side[i]).toFixed(0)} %`))))));
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Distribution of answers" }, table);
  };

  const drawOf = (draw, which, several) => {
    const box = element("div", { class: "draw" });
    if (several) box.append(element("h4", {}, `Draw ${which + 1}`));
    if (draw.reasoning) box.append(element("details", several ? {} : { open: "" }, element("summary", {}, "Reasoning"), element("pre", { class: "text reasoning", dir: "auto" }, draw.reasoning)));
    if ("text" in draw) box.append(element("pre", { class: "text answer", dir: "auto" }, typeof draw.text === "string" ? draw.text || "(empty)" : JSON.stringify(draw.text)));
    if (draw.failure) {
      const [stage, reason, detail] = draw.failure;
      box.append(element("p", { class: "warning" }, `${stage === "request" ? "No answer" : "Invalid"}: ${reason.replaceAll("_", " ")}${detail ? ` (${detail})` : ""}`));
    } else {
      box.append(element("p", { class: "read" }, "Read as ", element("bdi", { class: "code" }, shown(draw.values)), draw.repaired ? ` (repaired: ${draw.repaired})` : ""));
    }
    if (draw.probabilities) {
      const list = Object.entries(draw.probabilities).map(([label, share]) => `${label} ${(100 * share).toFixed(1)} %`).join(", ");
      box.append(element("p", { class: "quiet" }, `Probabilities: ${list}`));
    }
    return box;
  };

  const answerOf = (model, said) => {
    const box = element("section", { class: "card", "aria-label": `Answer of ${model.label}` }, element("h3", {}, element("bdi", {}, model.label)));
    const draws = said?.draws ?? [];
    if (!draws.length) box.append(element("p", { class: "quiet" }, "Was not asked."));
    const several = draws.length > 1;
    box.append(...draws.slice(0, FEW).map((draw, which) => drawOf(draw, which, several)));
    if (draws.length > FEW) {
      const more = element("button", { type: "button" }, `Show all ${draws.length} draws`);
      more.addEventListener("click", () => more.replaceWith(...draws.slice(FEW).map((draw, which) => drawOf(draw, which + FEW, true))));
      box.append(more);
    }
    const [tokensIn, tokensOut, cost] = said?.spent ?? [];
    if (tokensIn) box.append(element("p", { class: "quiet" }, `${number(tokensIn)} tokens in, ${number(tokensOut ?? 0)} out${cost ? `, $${cost.toPrecision(3)}` : ""}`));
    return box;
  };

  const promptOf = (record) => {
    const box = element("section", { class: "card prompt", "aria-label": "Prompt" });
    for (const message of record.messages) box.append(element("h3", { class: "role" }, message.role), element("pre", { class: "text", dir: "auto" }, message.text));
    if (!record.messages.length) {
      box.append(element("h3", { class: "role" }, "predictors"), element("dl", { class: "facts" },
        ...Object.entries(record.predictors).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, shown(value))))));
    }
    return box;
  };

  // Everything of one record, in order.
  const show = (about, models, place, record, answers) => {
    const groups = about.groups.map((group) => `${group.field}: ${group.groups[group.of[place]]}`);
    const told = [record.time ? `time ${record.time}` : null, record.release_date ? `released ${record.release_date}` : null, ...groups].filter(Boolean);
    const head = element("header", { class: "record-head" },
      element("h2", {}, "Record ", element("bdi", { class: "code" }, about.records[place])),
      element("p", { class: "quiet" }, told.join(" · ")));
    const truth = element("section", { class: "card truth", "aria-label": "True answer" },
      element("h3", {}, "True answer"), element("pre", { class: "text", dir: "auto" }, shown(record.gold)),
      record.no_change === null ? null : element("p", { class: "quiet" }, `No change: ${shown(record.no_change)}`));
    const compared = about.population ? distribution(about, models, answers) : predictions(about, models, place, answers);
    const panes = element("div", { class: "panes" }, promptOf(record),
      element("div", { class: "answers" }, truth, ...models.map((model, i) => answerOf(model, answers[i]))));
    return [head, compared, panes].filter(Boolean);
  };

  globalThis.hbenchRecord = { show, shown };
})();
