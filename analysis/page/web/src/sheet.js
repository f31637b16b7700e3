// A table that is there to be read: sorted by any column, its rows chosen by a button in the first cell.

// `columns`: [{name, help, value(row), text(row)}]; numbers stand right. `pick(row)`: the row was chosen;
// `marked(row)`: is it the chosen one?
export class Sheet {
  constructor(label, columns, pick, marked) {
    Object.assign(this, { columns, pick, marked, rows: [], by: null, down: false, most: 200 });
    this.box = document.createElement("div");
    this.box.className = "scroll sheet";
    this.box.tabIndex = 0; // to be scrolled by keys
    this.box.setAttribute("role", "region");
    this.box.setAttribute("aria-label", label);
    this.said = document.createElement("p");
    this.said.className = "reading";
    this.table = document.createElement("table");
    this.head = document.createElement("tr");
    this.body = document.createElement("tbody");
    const top = document.createElement("thead");
    top.append(this.head);
    this.table.append(top, this.body);
    this.box.append(this.table);
    this.heads();
  }
  heads() {
    for (const column of this.columns) {
      const cell = document.createElement("th"),
        button = document.createElement("button");
      cell.scope = "col";
      button.type = "button";
      button.textContent = column.name;
      if (column.help) button.title = column.help;
      button.addEventListener("click", () => this.sort(column));
      cell.append(button);
      this.head.append(cell);
    }
  }
  sort(column) {
    this.down = this.by === column ? !this.down : false;
    this.by = column;
    this.fill(this.rows);
  }
  fill(rows) {
    this.rows = rows;
    for (const [i, cell] of [...this.head.children].entries())
      cell.setAttribute("aria-sort", this.columns[i] !== this.by ? "none" : this.down ? "descending" : "ascending");
    const sorted = this.by ? [...rows].sort((a, b) => compare(this.by.value(a), this.by.value(b), this.down)) : rows;
    this.body.replaceChildren(...sorted.slice(0, this.most).map((row) => this.line(row)));
    this.said.textContent =
      rows.length > this.most
        ? `The first ${this.most.toLocaleString("en-GB")} of ${rows.length.toLocaleString("en-GB")} ` +
          "stand in the table; sort it by another column to see others."
        : "";
    this.mark();
  }
  line(row) {
    const line = document.createElement("tr");
    line.row = row;
    for (const [i, column] of this.columns.entries()) {
      const cell = document.createElement(i === 0 ? "th" : "td"),
        text = column.text(row);
      if (i === 0) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = text;
        button.addEventListener("click", () => this.pick(row));
        cell.scope = "row";
        cell.append(button);
      } else {
        cell.textContent = text;
        if (column.long) cell.className = "long";
        else if (typeof column.value(row) === "number") cell.className = "number";
      }
      line.append(cell);
    }
    return line;
  }
  mark() {
    for (const line of this.body.children) {
      const marked = this.marked(line.row);
      line.classList.toggle("chosen", marked);
      line.firstChild.firstChild.setAttribute("aria-pressed", String(marked));
    }
  }
}

// What has no value comes last, whichever way.
function compare(a, b, down) {
  const none = (v) => v === null || v === undefined || Number.isNaN(v);
  if (none(a) || none(b)) return Number(none(a)) - Number(none(b));
  const order =
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  return down ? -order : order;
}
