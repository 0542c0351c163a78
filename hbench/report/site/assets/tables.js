// Tables that can be sorted by any column, and filters of their rows. Without this script they are read as they are.
(() => {
  "use strict";
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // A cell's number: what it says it is, else what its text reads as; NaN where it is none.
  const numberOf = (cell) => {
    const told = cell.dataset.value;
    if (told !== undefined) return told === "" ? NaN : Number(told);
    const text = cell.textContent.trim().replace(/[,%$\s]/g, "").replace(/^[<>≥≤]+/, "").replace("−", "-");
    return text === "" ? NaN : Number(text);
  };

  const keysOf = (rows, column) => {
    const cells = rows.map((row) => row.cells[column]);
    const numbers = cells.map(numberOf);
    const empty = cells.map((cell, i) => Number.isNaN(numbers[i]) && ["", "-", "–"].includes(cell.textContent.trim()));
    const numeric = numbers.some((n) => !Number.isNaN(n)) && numbers.every((n, i) => empty[i] || !Number.isNaN(n) || cells[i].dataset.value === "");
    return numeric
      ? { numeric, keys: numbers, missing: numbers.map(Number.isNaN) }
      : { numeric, keys: cells.map((cell) => cell.textContent.trim()), missing: empty };
  };

  const sort = (table, column, direction) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const { numeric, keys, missing } = keysOf(rows, column);
    const sign = direction === "ascending" ? 1 : -1;
    const places = rows.map((_, i) => i);
    places.sort((a, b) => {
      // What has no value comes last, whichever way.
      if (missing[a] !== missing[b]) return missing[a] ? 1 : -1;
      if (missing[a]) return a - b;
      const by = numeric ? keys[a] - keys[b] : order.compare(keys[a], keys[b]);
      return sign * by || a - b;
    });
    body.append(...places.map((i) => rows[i]));
  };

  const makeSortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if ("unsortable" in head.dataset) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
        for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", direction);
        sort(table, column, direction);
      });
    });
  };

  // A form that filters a table: a select's name is a row's data attribute, a text field's is searched in it.
  const makeFilters = (form) => {
    const table = document.getElementById(form.dataset.filters);
    const rows = [...table.tBodies[0].rows];
    const status = form.querySelector(".status");
    for (const select of form.querySelectorAll("select")) {
      if (select.options.length > 1) continue;
      const values = new Set(rows.map((row) => row.dataset[select.name]));
      for (const value of values) select.add(new Option(value, value));
      if (values.size < 2) select.closest("label").hidden = true;
    }
    const apply = () => {
      const wanted = [...form.elements].filter((field) => field.name && field.value.trim() !== "");
      let shown = 0;
      for (const row of rows) {
        const fits = wanted.every((field) =>
          field.type === "search"
            ? row.dataset[field.name].toLowerCase().includes(field.value.trim().toLowerCase())
            : row.dataset[field.name] === field.value,
        );
        row.hidden = !fits;
        shown += fits;
      }
      status.textContent = wanted.length ? `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} lines` : "";
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    apply();
  };

  document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  document.querySelectorAll("form[data-filters]").forEach(makeFilters);
})();
