// Gives the reader a file.
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

type Value = number | string;

// csvOf writes a table with quotes where they are needed. A text that a spreadsheet would run as a
// formula gets an apostrophe before it: names come from programs.
export function csvOf(titles: string[], rows: Value[][]): string {
  const cell = (value: Value): string => {
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [titles, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// jsonOf writes the same as one object a row.
export function jsonOf(titles: string[], rows: Value[][]): string {
  const objects = rows.map((row) => Object.fromEntries(titles.map((title, i) => [title, row[i] ?? null])));
  return JSON.stringify(objects, null, 1) + "\n";
}
