// The record viewer: which records are looked at, in which order, and paging through them. record.js shows one of them.
(() => {
  "use strict";
  const { catalogue, index, prompt, answer } = globalThis.hbenchRecords;
  const { show, shown } = globalThis.hbenchRecord;
  const controls = document.getElementById("viewer-controls");
  const pager = document.getElementById("viewer-pager");
  const view = document.getElementById("viewer");
  const status = document.getElementById("viewer-status");
  const problem = document.getElementById("viewer-problem");
  const [WRONG, REPAIRED] = [2, 4]; // judging.py

  const state = { parts: [], part: null, about: null, model: null, other: null, places: [], at: 0, turn: 0 };

  const say = (error) => {
    problem.textContent =
      location.protocol === "file:"
        ? "Browsers do not let a page that was opened as a file read its records. Serve the folder with `hbench view FOLDER`, and open the address that it prints."
        : `The records cannot be read: ${error.message}`;
    problem.hidden = false;
  };

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
    const { show: wanted, group, order, text } = controls.elements;
    const fits = FILTERS[wanted.value][1];
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

  // Paging

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
      view.replaceChildren(...show(about, models(), place, record, answers));
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
    const { show: wanted, order } = controls.elements;
    const filters = Object.entries(FILTERS).filter(([name]) =>
      (name !== "wrong" || state.about.discrete) && (name !== "worse" || state.about.no_change_error.some((error) => error !== null)) && (!["ahead", "behind"].includes(name) || state.other));
    fill(wanted, filters.map(([name, [label]]) => [name, label]), wanted.value);
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
