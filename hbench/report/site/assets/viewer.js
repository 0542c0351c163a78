// The record viewer: pages through records with their prompts, answers, reasoning, parsed predictions and truth. All text from
// data and models is set as text, never as markup.
(() => {
  "use strict";
  const { catalogue, index, prompt, answer } = globalThis.hbenchRecords;
  const controls = document.getElementById("viewer-controls");
  const pager = document.getElementById("viewer-pager");
  const view = document.getElementById("viewer");
  const status = document.getElementById("viewer-status");
  const problem = document.getElementById("viewer-problem");
  const FEW = 8; // draws shown before "all draws"
  const [WRONG, REPAIRED] = [2, 4]; // judging.py
  const SVG = "http://www.w3.org/2000/svg";

  const state = { parts: [], part: null, about: null, model: null, other: null, places: [], at: 0, turn: 0 };

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children.filter((child) => child !== null));
    return made;
  };

  const say = (error) => {
    problem.textContent =
      location.protocol === "file:"
        ? "Browsers do not let a page that was opened as a file read its records. Serve the folder with `hbench view FOLDER`, and open the address that it prints."
        : `The records cannot be read: ${error.message}`;
    problem.hidden = false;
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

  // Which records

  const stateOf = (model, place) => model.states[place];
  const valid = (model, place) => !".0".includes(stateOf(model, place));
  const has = (model, place, flag) => valid(model, place) && (Number(stateOf(model, place)) & flag) > 0;
  const FILTERS = {
    all: ["all records", () => true],
    invalid: ["invalid answers", (place) => stateOf(state.model, place) === "0"],
    wrong: ["wrong answers", (place) => has(state.model, place, WRONG)],
    repaired: ["answers that needed a repair", (place) => has(state.model, place, REPAIRED)],
    worse: ["farther off than no change", (place) => valid(state.model, place) && state.model.errors[place] > (state.about.no_change_error[place] ?? Infinity)],
    ahead: ["first model nearer", (place) => between(place) < 0],
    behind: ["second model nearer", (place) => between(place) > 0],
  };
  const ORDERS = {
    asked: ["as asked", null],
    largest: ["largest error first", (place) => -(state.model.errors[place] ?? -Infinity)],
    smallest: ["smallest error first", (place) => state.model.errors[place] ?? Infinity],
    apart: ["models farthest apart", (place) => -Math.abs(between(place) || 0)],
  };

  // How much farther from the truth the first model is than the second; NaN where one of them has no answer.
  const between = (place) => {
    if (!state.other) return NaN;
    const [a, b] = [state.model.errors[place], state.other.errors[place]];
    return a === null || b === null ? NaN : a - b;
  };

  const models = () => [state.model, state.other].filter(Boolean);

  const matches = async (place, text) => {
    const folder = state.part.folder;
    const record = await prompt(folder, state.about, state.model.prompts, place);
    const said = await Promise.all(models().map((model) => answer(folder, state.about, model, place)));
    const texts = [state.about.records[place], shown(record.gold), ...record.messages.map((message) => message.text)];
    for (const one of said) for (const draw of one?.draws ?? []) texts.push(shown(draw.text), draw.reasoning ?? "", ...(draw.failure ?? []));
    return texts.some((one) => one.toLowerCase().includes(text));
  };

  const choose = async (turn) => {
    const { show, group, order, text } = controls.elements;
    const fits = FILTERS[show.value][1];
    const [field, value] = group.value.split(":").map(Number);
    let places = state.about.records.map((_, place) => place).filter((place) => stateOf(state.model, place) !== "." && fits(place));
    if (group.value) places = places.filter((place) => state.about.groups[field].of[place] === value);
    const sought = text.value.trim().toLowerCase();
    if (sought) {
      view.setAttribute("aria-busy", "true");
      status.textContent = "searching";
      const found = await Promise.all(places.map((place) => matches(place, sought)));
      if (turn !== state.turn) return false;
      places = places.filter((_, i) => found[i]);
    }
    const key = ORDERS[order.value][1];
    if (key) {
      const keys = new Map(places.map((place) => [place, key(place)]));
      places.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
    }
    state.places = places;
    return true;
  };

  // One record

  const predictions = (about, record, place, answers) => {
    const heads = ["", "true"];
    const columns = [parts(about, about.truth[place])];
    if (about.no_change[place]) {
      heads.push("no change");
      columns.push(parts(about, about.no_change[place]));
    }
    models().forEach((model, i) => {
      const values = parts(about, answers[i]?.prediction);
      heads.push(model.label, "off by");
      columns.push(values, values.map((value, line) => difference(value, columns[0][line])));
    });
    if (models().length === 2) {
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
  const distribution = (about, answers) => {
    const flat = (all) => all.flatMap((values) => (values ? values.flat(Infinity) : [])).filter((value) => typeof value === "number");
    const sides = [["people", flat(about.truth)], ...models().map((model, i) => [model.label, flat((answers[i]?.draws ?? []).map((draw) => draw.values))])];
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
    if (draw.reasoning) box.append(element("details", { open: "" }, element("summary", {}, "Reasoning"), element("pre", { class: "text reasoning", dir: "auto" }, draw.reasoning)));
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

  const render = async () => {
    const turn = (state.turn += 1);
    view.setAttribute("aria-busy", "true");
    if (!state.places.length) {
      status.textContent = "no record fits";
      view.replaceChildren();
      view.setAttribute("aria-busy", "false");
      return;
    }
    state.at = Math.max(0, Math.min(state.at, state.places.length - 1));
    const place = state.places[state.at];
    const { part, about } = state;
    try {
      const [record, ...answers] = await Promise.all([
        prompt(part.folder, about, state.model.prompts, place),
        ...models().map((model) => answer(part.folder, about, model, place)),
      ]);
      if (turn !== state.turn) return;
      const groups = about.groups.map((group) => `${group.field}: ${group.groups[group.of[place]]}`);
      const told = [record.time ? `time ${record.time}` : null, record.release_date ? `released ${record.release_date}` : null, ...groups].filter(Boolean);
      const head = element("header", { class: "record-head" },
        element("h2", {}, "Record ", element("bdi", { class: "code" }, about.records[place])),
        element("p", { class: "quiet" }, told.join(" · ")));
      view.replaceChildren(
        head,
        ...[about.population ? distribution(about, answers) : predictions(about, record, place, answers)].filter(Boolean),
        element("div", { class: "panes" },
          promptOf(record),
          element("div", { class: "answers" },
            element("section", { class: "card truth", "aria-label": "True answer" }, element("h3", {}, "True answer"), element("pre", { class: "text", dir: "auto" }, shown(record.gold)),
              record.no_change === null ? null : element("p", { class: "quiet" }, `No change: ${shown(record.no_change)}`)),
            ...models().map((model, i) => answerOf(model, answers[i])))),
      );
      problem.hidden = true;
    } catch (error) {
      if (turn === state.turn) say(error);
      return;
    }
    pager.querySelector('[name="place"]').value = String(state.at + 1);
    pager.querySelector('[name="place"]').max = String(state.places.length);
    pager.querySelector('[name="previous"]').disabled = state.at === 0;
    pager.querySelector('[name="next"]').disabled = state.at === state.places.length - 1;
    status.textContent = `of ${state.places.length.toLocaleString("en")}`;
    view.setAttribute("aria-busy", "false");
    remember();
  };

  const go = (at) => {
    state.at = at;
    return render();
  };

  // Choices

  const fill = (select, options, chosen) => {
    select.replaceChildren(...options.map(([value, label]) => new Option(label, value, false, value === chosen)));
  };

  const remember = () => {
    const told = new URLSearchParams({ task: state.part.folder, model: state.model.label });
    if (state.other) told.set("other", state.other.label);
    for (const name of ["show", "group", "order", "text"]) {
      const field = controls.elements[name];
      if (field.value && field.value !== "all" && field.value !== "asked") told.set(name, field.value);
    }
    told.set("record", state.about.records[state.places[state.at]]);
    history.replaceState(null, "", `#${told}`);
  };

  const refresh = async (record = null) => {
    const turn = (state.turn += 1);
    try {
      if (!(await choose(turn))) return;
    } catch (error) {
      say(error);
      return;
    }
    const at = record === null ? 0 : state.places.findIndex((place) => state.about.records[place] === record);
    await go(Math.max(0, at));
  };

  const openModels = (model, other) => {
    const labels = state.about.models.map((one) => one.label);
    state.model = state.about.models[Math.max(0, labels.indexOf(model))];
    state.other = state.about.models.find((one) => one.label === other && one !== state.model) ?? null;
    fill(controls.elements.model, labels.map((label) => [label, label]), state.model.label);
    fill(controls.elements.other, [["", "none"], ...labels.filter((label) => label !== state.model.label).map((label) => [label, label])], state.other?.label ?? "");
    const { show, order } = controls.elements;
    const filters = Object.entries(FILTERS).filter(([name]) =>
      (name !== "wrong" || state.about.discrete) && (name !== "worse" || state.about.no_change_error.some((error) => error !== null)) && (!["ahead", "behind"].includes(name) || state.other));
    fill(show, filters.map(([name, [label]]) => [name, label]), show.value);
    fill(order, Object.entries(ORDERS).filter(([name]) => name !== "apart" || state.other).map(([name, [label]]) => [name, label]), order.value);
  };

  const openPart = async (folder, told = new URLSearchParams()) => {
    state.part = state.parts.find((part) => part.folder === folder) ?? state.parts[0];
    state.about = await index(state.part.folder);
    controls.elements.part.value = state.part.folder;
    openModels(told.get("model"), told.get("other"));
    const { group } = controls.elements;
    fill(group, [["", "everybody"], ...state.about.groups.flatMap((one, field) => one.groups.map((name, value) => [`${field}:${value}`, `${one.field}: ${name}`]))], told.get("group") ?? "");
    for (const name of ["show", "order"]) {
      const wanted = told.get(name);
      controls.elements[name].value = wanted && [...controls.elements[name].options].some((option) => option.value === wanted) ? wanted : controls.elements[name].options[0].value;
    }
    controls.elements.text.value = told.get("text") ?? "";
    await refresh(told.get("record"));
  };

  const begin = async () => {
    const { parts: found } = await catalogue();
    state.parts = found;
    if (!found.length) return;
    fill(controls.elements.part, found.map((part) => [part.folder, `${part.task} (${part.suite}, ${part.split.replaceAll("_", " ")})`]), "");
    controls.hidden = pager.hidden = false;
    const told = new URLSearchParams(location.hash.slice(1));
    await openPart(told.get("task"), told);
  };

  let waiting = 0;
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", (event) => {
    const field = event.target;
    clearTimeout(waiting);
    if (field.name === "part") openPart(field.value).catch(say);
    else if (field.name === "text") waiting = setTimeout(() => refresh(), 250);
    else {
      const record = state.places.length ? state.about.records[state.places[state.at]] : null;
      if (field.name === "model" || field.name === "other") openModels(controls.elements.model.value, controls.elements.other.value);
      // Another model on the same record; another filter starts at its first.
      refresh(["model", "other"].includes(field.name) ? record : null);
    }
  });
  pager.querySelector('[name="previous"]').addEventListener("click", () => go(state.at - 1));
  pager.querySelector('[name="next"]').addEventListener("click", () => go(state.at + 1));
  pager.querySelector('[name="place"]').addEventListener("change", (event) => go(Number(event.target.value) - 1));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !state.about) return;
    const typing = event.target.closest("input, select, textarea");
    // Text that is wider than its box is scrolled by the same keys.
    const scrolls = event.target.closest("pre, .scroll");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      controls.elements.text.focus();
    } else if (event.key === "ArrowRight" && !typing && !scrolls && state.at < state.places.length - 1) go(state.at + 1);
    else if (event.key === "ArrowLeft" && !typing && !scrolls && state.at > 0) go(state.at - 1);
  });
  addEventListener("hashchange", () => {
    const told = new URLSearchParams(location.hash.slice(1));
    if (told.get("task")) openPart(told.get("task"), told).catch(say);
  });
  begin().catch(say);
})();
