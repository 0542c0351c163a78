// Draws the figures: each <figure data-figure> holds its numbers as JSON and a place to draw in. The five forms and their
// columns are those of figures.py. Observable Plot makes the SVG; colours come from the style sheet, so that light and dark
// need no second drawing. Figures are drawn when they come near the window.
(() => {
  "use strict";
  const COLOURS = 8;
  const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross"];
  const ROW = 21; // pixels of one line of dots
  const CHARACTER = 6.6; // mean width of a character at the figures' size

  // The same rule as canvas.py: models beyond the palette repeat its colours with other marks.
  const colour = (models, model) => `var(--c${Math.max(0, models.indexOf(model)) % COLOURS})`;
  const symbol = (models, model) => {
    const place = Math.max(0, models.indexOf(model));
    return SYMBOLS[(Math.floor(place / COLOURS) + place) % SYMBOLS.length];
  };

  const distinct = (rows, column) => [...new Set(rows.map((row) => row[column]))];
  const known = (number) => number !== null && number !== undefined && Number.isFinite(number);
  const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const number = (value) => {
    if (!known(value)) return "–";
    const size = Math.abs(value);
    return size >= 1000 ? value.toLocaleString("en", { maximumFractionDigits: 0 }) : size >= 100 ? value.toFixed(1) : value.toFixed(size >= 10 ? 2 : 3);
  };
  const interval = (lo, hi) => (known(lo) && known(hi) ? `  (${number(lo)} to ${number(hi)})` : "");

  // Plot puts a <style> into each SVG, which our policy forbids in the page. It is taken out before the SVG comes here; its
  // few rules are in site.css.
  const plot = (options) => {
    const made = Plot.plot({ style: { background: "none" }, ...options });
    for (const style of made.querySelectorAll("style")) style.remove();
    // One picture with one name: names of its parts are for nobody.
    for (const part of made.querySelectorAll("g[aria-label]")) {
      part.dataset.mark = part.getAttribute("aria-label");
      part.removeAttribute("aria-label");
    }
    made.setAttribute("role", "img");
    return made;
  };

  const labelWidth = (labels, width) => Math.min(width * 0.42, 14 + CHARACTER * Math.max(3, ...labels.map((label) => label.length)));

  const dots = (spec, rows, width) => {
    // Columns: facet, line, side, model, value, lo, hi.
    const lines = distinct(rows, 1);
    const inner = new Map(lines.map((line) => [line, [...new Set(rows.filter((row) => row[1] === line).map((row) => `${row[2]}\n${row[3]}`))]]));
    const place = (row) => {
      const keys = inner.get(row[1]);
      return lines.indexOf(row[1]) + (keys.indexOf(`${row[2]}\n${row[3]}`) + 0.5) / keys.length;
    };
    const data = rows.filter((row) => known(row[4])).map((row) => ({
      y: place(row), x: row[4], lo: row[5], hi: row[6], colour: colour(spec.models, row[3]), symbol: symbol(spec.models, row[3]),
      fill: spec.hollow && row[2] === spec.hollow ? "var(--paper)" : colour(spec.models, row[3]),
      title: `${row[3]}${row[1] === row[3] ? "" : `, ${row[1]}`}${row[2] ? `, ${row[2]}` : ""}\n${number(row[4])}${interval(row[5], row[6])}`,
    }));
    const left = labelWidth(lines, width);
    const most = Math.floor((left - 12) / CHARACTER);
    const dense = Math.max(...[...inner.values()].map((keys) => keys.length));
    return plot({
      width, marginLeft: left, marginRight: 16, marginBottom: 38, marginTop: 10,
      height: lines.length * Math.max(ROW, dense > 1 ? 9 * dense + 8 : 0) + 48,
      x: { label: spec.x?.label || null, labelAnchor: "center", labelArrow: "none", nice: true, ticks: Math.max(3, Math.floor((width - left) / 70)) },
      y: { axis: null, domain: [lines.length, 0] },
      marks: [
        Plot.gridX({ ticks: Math.max(3, Math.floor((width - left) / 70)) }),
        spec.x?.zero ? Plot.ruleX([0], { stroke: "currentColor", strokeOpacity: 0.6 }) : null,
        lines.length > 1 && dense > 1 ? Plot.ruleY(lines.slice(1).map((_, i) => i + 1), { strokeOpacity: 0.12 }) : null,
        Plot.text(lines, { x: null, y: (_, i) => i + 0.5, text: (line) => short(line, most), frameAnchor: "left", dx: -left + 2, textAnchor: "start", title: (line) => line }),
        Plot.ruleY(data.filter((d) => known(d.lo) && known(d.hi)), { y: "y", x1: "lo", x2: "hi", stroke: "colour", strokeWidth: 1.4 }),
        Plot.dot(data, { x: "x", y: "y", fill: "fill", stroke: "colour", strokeWidth: 1.4, symbol: "symbol", r: 3.8, title: "title", tip: true }),
      ],
      color: { type: "identity" }, symbol: { type: "identity" },
    });
  };

  const lines = (spec, rows, width) => {
    // Columns: facet, model, x, y, lo, hi.
    const data = rows.filter((row) => known(row[3]) && (typeof row[2] === "string" || known(row[2]))).map((row) => ({
      model: row[1], x: row[2], y: row[3], lo: row[4], hi: row[5], colour: colour(spec.models, row[1]), symbol: symbol(spec.models, row[1]),
      title: `${row[1]}\n${spec.x.label} ${typeof row[2] === "string" ? row[2] : number(row[2])}: ${number(row[3])}${interval(row[4], row[5])}`,
    }));
    const values = distinct(rows, 2);
    const x = spec.x.order ? { type: "point", domain: values.sort() } : spec.x.log ? { type: "log", base: spec.x.log, ticks: values.filter(known), tickFormat: (value) => String(value) } : {};
    return plot({
      width, height: Math.min(340, Math.max(240, width * 0.62)), marginLeft: 50, marginRight: 16, marginBottom: 40, marginTop: 22,
      x: { label: spec.x.label, labelAnchor: "center", labelArrow: "none", ...x },
      y: { label: spec.y.label, labelArrow: "none", nice: true, grid: true },
      marks: [
        spec.diagonal ? Plot.line([[0, 0], [1, 1]], { stroke: "currentColor", strokeOpacity: 0.4, strokeDasharray: "3 3" }) : null,
        Plot.ruleX(data.filter((d) => known(d.lo) && known(d.hi)), { x: "x", y1: "lo", y2: "hi", stroke: "colour", strokeOpacity: 0.7 }),
        Plot.line(data, { x: "x", y: "y", z: "model", stroke: "colour", strokeWidth: 1.6 }),
        Plot.dot(data, { x: "x", y: "y", fill: "colour", stroke: "colour", symbol: "symbol", r: 3.4, title: "title", tip: true }),
      ],
      color: { type: "identity" }, symbol: { type: "identity" },
    });
  };

  const heat = (spec, rows, width) => {
    // Columns: facet, x, y, value, count.
    const [across, down] = [distinct(rows, 1), distinct(rows, 2)];
    const size = spec.scale === "share" ? 1 : Math.max(...rows.map((row) => (known(row[3]) ? Math.abs(row[3]) : 0))) || 1;
    const shade = (value) => (spec.scale === "share" ? d3.interpolateBlues(0.05 + 0.9 * value) : d3.interpolateRdBu(0.5 - (0.46 * value) / size));
    const data = rows.filter((row) => known(row[3])).map((row) => ({
      x: row[1], y: row[2], shade: shade(row[3]), ink: d3.lab(shade(row[3])).l < 60 ? "#fff" : "#111",
      text: spec.scale === "share" ? (row[3] > 0 ? (100 * row[3]).toFixed(0) : "") : row[3].toFixed(2),
      title: `${row[1]}, ${row[2]}\n${spec.scale === "share" ? `${(100 * row[3]).toFixed(1)} % (${row[4]})` : number(row[3])}`,
    }));
    const side = spec.y.label ? 18 : 0; // for the axis's own name
    const left = labelWidth(down, width) + side;
    // Names that fit below their cells stand upright.
    const longest = CHARACTER * Math.max(...across.map((label) => Math.min(22, label.length)));
    const turned = longest > (width - left) / across.length - 6;
    const below = turned ? 14 + 0.72 * longest : 16;
    return plot({
      width, height: down.length * 26 + below + (spec.x.label ? 28 : 16), marginLeft: left, marginBottom: below + (spec.x.label ? 20 : 8), marginTop: 6, marginRight: 20,
      padding: 0.04,
      x: { type: "band", domain: across, label: spec.x.label || null, labelAnchor: "center", labelArrow: "none", tickRotate: turned ? -40 : 0, tickSize: 0, tickFormat: (label) => short(label, 22) },
      y: { type: "band", domain: down, label: spec.y.label || null, labelAnchor: "center", labelArrow: "none", tickSize: 0, tickFormat: (label) => short(label, Math.floor((left - side - 10) / CHARACTER)) },
      color: { type: "identity" },
      marks: [
        Plot.cell(data, { x: "x", y: "y", fill: "shade", title: "title", tip: true }),
        (width - left) / across.length > 26 ? Plot.text(data, { x: "x", y: "y", text: "text", fill: "ink" }) : null,
      ],
    });
  };

  const scatter = (spec, rows, width) => {
    // Columns: facet, model, x, y, lo, hi.
    const data = rows.filter((row) => known(row[2]) && known(row[3])).map((row) => ({
      x: row[2], y: row[3], lo: row[4], hi: row[5], model: row[1], colour: colour(spec.models, row[1]), symbol: symbol(spec.models, row[1]),
      title: `${row[1]}\n${number(row[3])}${interval(row[4], row[5])}\n${number(row[2])} ${spec.x.label}`,
    }));
    return plot({
      width, height: 260, marginLeft: 50, marginRight: 20, marginBottom: 40, marginTop: 22,
      x: { type: "log", label: spec.x.label, labelAnchor: "center", labelArrow: "none", ticks: 4, tickFormat: "~s" },
      y: { label: spec.y.label, labelArrow: "none", nice: true, grid: true },
      color: { type: "identity" }, symbol: { type: "identity" },
      marks: [
        Plot.ruleX(data.filter((d) => known(d.lo) && known(d.hi)), { x: "x", y1: "lo", y2: "hi", stroke: "colour", strokeOpacity: 0.7 }),
        Plot.dot(data, { x: "x", y: "y", fill: "colour", stroke: "colour", symbol: "symbol", r: 4.4, title: "title", tip: true }),
      ],
    });
  };

  const band = (spec, rows, width) => {
    // Columns: size, error, lo, hi.
    const data = rows.map((row) => ({ x: row[0], y: row[1], lo: row[2], hi: row[3], title: `N = ${row[0].toLocaleString("en")}\n${number(row[1])}${interval(row[2], row[3])}` }));
    const [name, level, low, high] = spec.level;
    const sizes = d3.extent(data, (d) => d.x);
    return plot({
      width, height: 300, marginLeft: 56, marginRight: 24, marginBottom: 40, marginTop: 34,
      x: { type: "log", label: spec.x.label, labelAnchor: "center", labelArrow: "none", tickFormat: "~s", ticks: 5 },
      y: { label: spec.y.label, labelArrow: "none", nice: true, grid: true },
      marks: [
        Plot.rect([0], { x1: sizes[0], x2: sizes[1], y1: low, y2: high, fill: "var(--c5)", fillOpacity: 0.14 }),
        Plot.ruleY([level], { stroke: "var(--c5)", strokeWidth: 1.6 }),
        Plot.text([name], { x: sizes[1], y: level, dy: -8, textAnchor: "end", text: (d) => short(d, 40), fill: "var(--c5)" }),
        Plot.areaY(data, { x: "x", y1: "lo", y2: "hi", fill: "var(--c0)", fillOpacity: 0.16 }),
        Plot.line(data, { x: "x", y: "y", stroke: "var(--c0)", strokeWidth: 1.8 }),
        Plot.dot(data, { x: "x", y: "y", fill: "var(--c0)", r: 3, title: "title", tip: true }),
        Plot.ruleX(spec.sizes, { x: "x", stroke: "currentColor", strokeDasharray: "3 3", strokeOpacity: 0.7 }),
        // One below the other, above the drawing, so that near ones do not meet.
        ...spec.sizes.map((size, i) => Plot.text([size], { x: "x", text: "label", frameAnchor: "top", dy: -24 + 12 * i, textAnchor: size.x > sizes[1] / 3 ? "end" : "start" })),
      ],
    });
  };

  const FORMS = { dots, lines, heat, scatter, band };
  const WIDEST = { dots: 420, lines: 440, heat: 1200, scatter: 340, band: 620 };

  const swatch = (models, model) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "-7 -7 14 14");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const name = symbol(models, model);
    path.setAttribute("d", d3.symbol(d3[`symbol${name[0].toUpperCase()}${name.slice(1)}`], 60)());
    path.setAttribute("fill", colour(models, model));
    svg.append(path);
    return svg;
  };

  // Names the models; pressing one takes it out of the figure, or puts it back.
  const legend = (spec, names, hidden, redraw) => {
    const list = document.createElement("div");
    list.className = "legend";
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", "Models shown");
    for (const name of names) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!hidden.has(name)));
      button.append(swatch(spec.models, name), name);
      button.addEventListener("click", () => {
        if (hidden.has(name)) hidden.delete(name);
        else hidden.add(name);
        button.setAttribute("aria-pressed", String(!hidden.has(name)));
        redraw();
      });
      list.append(button);
    }
    return list;
  };

  const modelColumn = { dots: 3, lines: 1, scatter: 1 };
  const valueColumn = { dots: 4, lines: 3, heat: 3, scatter: 3, band: 1 };

  const draw = (figure) => {
    const spec = figure.spec;
    const canvas = figure.querySelector(".canvas");
    const column = modelColumn[spec.form];
    const rows = spec.rows.filter((row) => column === undefined || !figure.left.has(row[column]));
    const facets = spec.form === "band" ? [null] : distinct(spec.rows, 0);
    const space = canvas.clientWidth || 640;
    const count = Math.max(1, Math.min(facets.length, Math.floor(space / (spec.form === "heat" && facets.length > 1 ? 300 : 330))));
    const gap = 24;
    const width = Math.min(WIDEST[spec.form] * (facets.length === 1 && spec.form !== "heat" ? 1.8 : 1.25), (space - gap * (count - 1)) / count);
    const grid = document.createElement("div");
    grid.className = "facets";
    for (const facet of facets) {
      const mine = facet === null ? rows : rows.filter((row) => row[0] === facet);
      const panel = document.createElement("div");
      panel.className = "facet";
      if (facet) {
        const head = document.createElement("p");
        head.className = "facet-name";
        head.textContent = facet;
        panel.append(head);
      }
      if (mine.some((row) => known(row[valueColumn[spec.form]]))) {
        const svg = FORMS[spec.form](spec, mine, width);
        svg.setAttribute("aria-label", `${spec.title}${facet ? `: ${facet}` : ""}. The numbers are in the table below.`);
        panel.append(svg);
      } else {
        const none = document.createElement("p");
        none.className = "quiet";
        none.textContent = "No values.";
        panel.append(none);
      }
      grid.append(panel);
    }
    const names = column === undefined ? [] : spec.models.filter((model) => spec.rows.some((row) => row[column] === model));
    const named = spec.legend || spec.form === "lines" || spec.form === "scatter";
    const old = canvas.querySelector(".legend");
    if (named && !old) canvas.replaceChildren(legend(spec, names, figure.left, () => draw(figure)), grid);
    else if (old) canvas.replaceChildren(old, grid);
    else canvas.replaceChildren(grid);
    figure.drawn = space;
  };

  const prepare = (figure) => {
    figure.spec = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    figure.left = new Set();
    figure.drawn = 0;
  };

  const figures = [...document.querySelectorAll("figure[data-figure]")];
  figures.forEach(prepare);
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !entry.target.drawn) draw(entry.target);
  }, { rootMargin: "400px" });
  figures.forEach((figure) => seen.observe(figure));

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const figure of figures) if (figure.drawn && figure.drawn !== figure.querySelector(".canvas").clientWidth) draw(figure);
    }, 150);
  });
  addEventListener("beforeprint", () => figures.filter((figure) => !figure.drawn).forEach(draw));

  // For compare.js, whose figures are made of what the reader chooses.
  globalThis.hbenchFigures = { forms: FORMS, number, swatch };
})();
