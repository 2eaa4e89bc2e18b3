// The library of a served directory: what there is, what is made of it, and what runs.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { leave } from "../api/ask";
import type { Entry, LibraryAnswer } from "../api/library";
import { visible } from "../lib/format";
import { useSlash, useTheme, type Theme } from "../lib/hooks";
import { useServer } from "../lib/live";
import { Compare, noSides, type Change, type Sides } from "./compare";
import { comparable, Entries, Pick } from "./entries";
import { Jobs } from "./jobs";
import { Choice, Section } from "./parts";
import { Start } from "./start";

const kinds: [string, string][] = [
  ["", "All"], ["case", "Cases"], ["recording", "Recordings"], ["experiment", "Experiments"],
];

const sideMax = 100; // recordings of one side, as the server allows

export function Library() {
  const [theme, setTheme] = useTheme();
  const live = useServer();
  const [sides, setSides] = useState<Sides>(noSides);
  const { library } = live;
  useEffect(() => {
    if (library) document.title = `culprit: ${visible(library.dir, 100)}`;
  }, [library?.dir]);
  return (
    <>
      <Top library={library} theme={theme} onTheme={setTheme} />
      <main class="page">
        {live.failure && <section class="card" role="alert"><p>{visible(live.failure, 500)}</p></section>}
        {live.jobs.length > 0 && <Jobs jobs={live.jobs} onChange={live.look} />}
        {library && <Shelf library={library} sides={sides} onSides={setSides} />}
        {library && !library.read_only && <Start onStart={live.look} />}
        {!library && !live.failure && <p class="muted">Reading the directory …</p>}
      </main>
      <Compare sides={sides} onSides={setSides} onStart={live.look} jobs={live.jobs} />
    </>
  );
}

function Top({ library, theme, onTheme }: {
  library: LibraryAnswer | null; theme: Theme; onTheme: (theme: Theme) => void;
}) {
  const other: Theme = theme === "dark" ? "light" : "dark";
  return (
    <header class="top">
      <h1 class="brand">culprit</h1>
      <span class="where muted small" title="The directory that is served">
        <bdi>{library ? visible(library.dir, 200) : ""}</bdi>
      </span>
      <span class="grow" />
      {library?.fleet && <a class="button" href="/fleet">Fleet</a>}
      {library?.token && <button type="button" class="button" onClick={() => void leave()}>Log out</button>}
      <button type="button" class="button" onClick={() => onTheme(other)} aria-label={`Switch to ${other} colours`}>
        {theme === "dark" ? "Light" : "Dark"}
      </button>
    </header>
  );
}

function Shelf({ library, sides, onSides }: {
  library: LibraryAnswer; sides: Sides; onSides: Change;
}) {
  const [search, setSearch] = useState("");
  const [kind, setKind] = useState("");
  const [evidence, setEvidence] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useSlash(field);
  const shown = useMemo(
    () => library.entries.filter((e) =>
      (!kind || e.kind === kind) && (evidence || !e.of) && matches(e, search)),
    [library.entries, kind, evidence, search]);
  const paths = shown.filter(comparable).map((entry) => entry.path);
  const inCases = library.entries.filter((entry) => entry.of).length;
  if (library.entries.length === 0) {
    return (
      <Section id="library" title="Nothing here yet">
        <p>
          There is no case, experiment or recording below <code>{visible(library.dir, 200)}</code>.
          {library.read_only ? " Put some there." : " Start a recording or an investigation below, or put a file in."}
        </p>
        {library.left_out && <p class="note muted">Left out: {visible(library.left_out, 300)}</p>}
      </Section>
    );
  }
  return (
    <Section id="library" title="Library">
      <div class="toolbar">
        <input ref={field} class="field" type="search" placeholder="Search (/)" aria-label="Search the library"
          value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        <Choice label="Show" value={kind} options={kinds} onChange={setKind} />
        {inCases > 0 && (
          <label class="check">
            <input type="checkbox" checked={evidence} onChange={(event) => setEvidence(event.currentTarget.checked)} />
            recordings inside cases ({inCases})
          </label>
        )}
        <span class="muted small" role="status">{shown.length} of {library.entries.length}</span>
        {paths.length > 1 && paths.length <= sideMax && (
          <span class="check">
            all shown: <Pick paths={paths} name="all recordings shown" sides={sides} onSides={onSides} />
          </span>
        )}
      </div>
      {shown.length === 0
        ? <p class="muted">Nothing matches.{!evidence && inCases > 0 && " Recordings inside cases are left out."}</p>
        : <Entries entries={shown} sides={sides} onSides={onSides} />}
      {library.left_out && <p class="note muted">Left out: {visible(library.left_out, 300)}</p>}
    </Section>
  );
}

// matches tells whether all words of a search are somewhere in an entry.
function matches(entry: Entry, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const labels = Object.entries(entry.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const text = [entry.path, entry.kind, entry.title, entry.against, entry.outcome, entry.suspect, entry.host,
    entry.metric, entry.damaged && `damaged ${entry.damaged}`, ...labels].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}
