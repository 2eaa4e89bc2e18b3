// The page from top to bottom.
import { useEffect, useMemo, useState } from "preact/hooks";
import { caseDocument, type Report } from "../api/load";
import { digits, known, literal, visible } from "../lib/format";
import { useTheme, type Theme } from "../lib/hooks";
import { served } from "../lib/served";
import { Differences } from "./differences";
import { FlameSection } from "./flame";
import { Notes, Section } from "./parts";
import { Settings } from "./settings";
import { Suspects } from "./suspects";
import { Trials } from "./trials";
import { VerdictCard } from "./verdict";

export function App({ report }: { report: Report }) {
  const [theme, setTheme] = useTheme();
  const [search, setSearch] = useState("");
  const { found, words } = report;
  useEffect(() => {
    document.title = `culprit: ${words.headline}`;
    addEventListener("beforeprint", unfold);
    return () => removeEventListener("beforeprint", unfold);
  }, []);
  const find = (frame: string) => {
    setSearch(`^${literal(frame)}$`);
    document.getElementById("flame")?.scrollIntoView({ behavior: "smooth" });
  };
  const frames = useMemo(
    () => new Set([...(report.profile?.columns.names ?? []), ...(report.waits?.columns.names ?? [])]), [report]);
  return (
    <>
      <Header report={report} theme={theme} onTheme={setTheme} />
      <main class="page">
        <VerdictCard report={report} />
        <Suspects found={found} words={words} hasFrame={(name) => frames.has(name)} onFind={find} />
        <Trials found={found} words={words} />
        <Differences found={found} words={words} />
        <FlameSection report={report} theme={theme} search={search} onSearch={setSearch} />
        <Settings found={found} />
        <Limits report={report} />
        <footer class="muted small">
          {words.host && <p>{words.host}</p>}
          <p>
            culprit, {visible(found.schema, 40)}, seed {words.seed}
            {known(found.elapsed_s) && `, ${digits(found.elapsed_s)} s in all`}.
            {!served() && " This file asks for nothing over the network."}
          </p>
        </footer>
      </main>
    </>
  );
}

// unfold opens what is collapsed, since paper cannot be clicked.
function unfold(): void {
  const shut = document.querySelectorAll<HTMLDetailsElement>("details.suspect, details.why");
  for (const element of shut) element.open = true;
}

const places: [string, string][] = [
  ["suspects", "Suspects"], ["trials", "Trials"], ["differences", "Differences"], ["flame", "Flame graph"],
  ["settings", "What differs"], ["limits", "Limits"],
];

function Header({ report, theme, onTheme }: { report: Report; theme: Theme; onTheme: (theme: Theme) => void }) {
  const other: Theme = theme === "dark" ? "light" : "dark";
  return (
    <header class="top">
      <a class="brand" href="#verdict">culprit</a>
      {served() && <a class="button" href="/">Library</a>}
      <nav aria-label="Sections">{places.map(([id, title]) => <a key={id} href={`#${id}`}>{title}</a>)}</nav>
      <span class="grow" />
      <button type="button" class="button" onClick={() => download(report)} title="The whole case as one JSON document">
        Download JSON
      </button>
      <button type="button" class="button" onClick={() => onTheme(other)} aria-label={`Switch to ${other} colours`}>
        {theme === "dark" ? "Light" : "Dark"}
      </button>
    </header>
  );
}

function download(report: Report): void {
  const url = URL.createObjectURL(new Blob([caseDocument(report)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "case.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function Limits({ report }: { report: Report }) {
  const { found, words } = report;
  return (
    <Section id="limits" title="What limits this answer">
      <div class="columns">
        <Notes title="Blind spots" notes={found.blind_spots.map((note) => visible(note, 1000))}
          empty="None known on this host." />
        <Notes title="Warnings" notes={found.warnings.map((note) => visible(note, 1000))} empty="None." />
        <Notes title="What recording cost" notes={words.cost} empty="Not measured." />
      </div>
    </Section>
  );
}
