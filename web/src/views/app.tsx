// The page from top to bottom.
import { useEffect, useMemo, useState } from "preact/hooks";
import { caseDocument, type Report } from "../api/load";
import { download } from "../lib/download";
import { literal, visible } from "../lib/format";
import { useTheme } from "../lib/hooks";
import { readLink } from "../state/link";
import { Differences } from "./differences";
import { FlameSection } from "./flame";
import { Origin } from "./origin";
import { Notes, Section } from "./parts";
import { Requests } from "./requests";
import { Settings } from "./settings";
import { Suspects } from "./suspects";
import { Top } from "./top";
import { Trials } from "./trials";
import { VerdictCard } from "./verdict";

export function App({ report }: { report: Report }) {
  const [theme, setTheme] = useTheme();
  const [search, setSearch] = useState(() => readLink().search ?? "");
  const { found, words } = report;
  const has = (section: string) => shows(report, section);
  useEffect(() => {
    document.title = `culprit: ${words.headline}`;
    if (location.hash.startsWith("#flame?")) document.getElementById("flame")?.scrollIntoView();
  }, []);
  const find = (frame: string) => {
    setSearch(`^${literal(frame)}$`);
    document.getElementById("flame")?.scrollIntoView({ behavior: "smooth" });
  };
  const frames = useMemo(
    () => new Set([...(report.profile?.columns.names ?? []), ...(report.waits?.columns.names ?? [])]), [report]);
  return (
    <>
      <Top places={places.filter(([id]) => has(id))} theme={theme} onTheme={setTheme} onSave={() => save(report)} />
      <main class="page">
        <VerdictCard report={report} />
        <Suspects found={found} words={words} hasFrame={(name) => frames.has(name)} onFind={find} />
        {has("trials") && <Trials found={found} words={words} />}
        {report.requests && <Requests page={report.requests} told={!words.only} theme={theme} />}
        {has("differences") && <Differences found={found} words={words} />}
        {has("flame") && <FlameSection report={report} theme={theme} search={search} onSearch={setSearch} />}
        {has("settings") && <Settings found={found} />}
        <Limits report={report} />
        <Origin host={words.host} schema={found.schema} seed={words.seed} seconds={found.elapsed_s} />
      </main>
    </>
  );
}

// shows tells which sections a page has: that of a tail has few, and requests are only where some
// were recorded.
function shows({ words, requests }: Report, section: string): boolean {
  return section === "requests" ? requests !== null : !words.only || words.only.includes(section);
}

const places: [string, string][] = [
  ["suspects", "Suspects"], ["trials", "Trials"], ["requests", "Requests"], ["differences", "Differences"],
  ["flame", "Flame graph"], ["settings", "What differs"], ["limits", "Limits"],
];

function save(report: Report): void {
  if (report.documentText) download("tail.json", "application/json", report.documentText);
  else download("case.json", "application/json", caseDocument(report));
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
