// The bar at the top of a page with data.
import { served } from "../lib/served";
import type { Theme } from "../lib/hooks";

export function Top({ places, theme, onTheme, onSave }: {
  places: [string, string][]; theme: Theme; onTheme: (theme: Theme) => void; onSave: () => void;
}) {
  const other: Theme = theme === "dark" ? "light" : "dark";
  return (
    <header class="top">
      <a class="brand" href="#verdict">culprit</a>
      {served() && <a class="button" href="/">Library</a>}
      <nav aria-label="Sections">
        {places.map(([id, title]) => <a key={id} href={`#${id}`}>{title}</a>)}
      </nav>
      <span class="grow" />
      <button type="button" class="button" onClick={onSave} title="All of it as one JSON document">
        Download JSON
      </button>
      <button type="button" class="button" onClick={() => onTheme(other)} aria-label={`Switch to ${other} colours`}>
        {theme === "dark" ? "Light" : "Dark"}
      </button>
    </header>
  );
}
