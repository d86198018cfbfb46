// A heading of a table is a button: it sorts the rows by its column, and at the next click the other way round.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = (cell.firstChild ? cell.firstChild.textContent : "").trim();  // without the remark below it
    const number = parseFloat(text.replace(/,/g, "").replace(/^[^0-9.+-]*/, ""));  // of "1.85-1.86" or ">= 3", the first
    return Number.isNaN(number) || cell.tagName === "TH" || cell.classList.contains("text") ? text : number;
  };
  const compare = (a, b) =>
    typeof a === typeof b
      ? typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true })
      : typeof a === "number" ? -1 : 1;  // what is no number stands last
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const way = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort((a, b) => way * compare(a[0], b[0]));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
