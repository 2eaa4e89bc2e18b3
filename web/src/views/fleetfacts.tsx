// Settings, versions and labels that go with a metric, and functions that take more on one side.
import type { Difference, FactsFound, Finding } from "../api/fleet";
import { digits, percent, visible } from "../lib/format";
import { points } from "../state/hosts";
import { plural, type AnswerProps } from "./fleetanswer";
import { nameColumn, numberColumn } from "./columns";
import { HostDots, HostTable } from "./hostdots";
import { Section } from "./parts";
import { SortTable, type Column } from "./sorttable";

export function FactsAnswer({ answer, facts }: AnswerProps & { facts: FactsFound }) {
  const first = facts.findings[0];
  const having = new Set(first?.with.map((place) => facts.names[place]));
  const group = (name: string) => (!first ? "" : having.has(name) ? "with" : "without");
  const hosts = (answer.each ?? []).map((host) => ({ ...host, group: group(host.host) }));
  const title = first ? `${nameOf(first)} goes with it: ${effectOf(first, facts.banded)}` : "No fact goes with it";
  const words: [string, string][] = first
    ? [["without", "without it"], ["with", `with ${nameOf(first, 60)}`]] : [["", "hosts"]];
  return (
    <Section id="facts" title={title}>
      <FactTable facts={facts} />
      <HostDots hosts={hosts} unit={answer.unit} groups={words} caption="Each dot is a host" />
      <details class="more" open>
        <summary>Table of the same data</summary>
        <HostTable label={`Hosts of ${visible(answer.service, 60)}`} hosts={hosts} unit={answer.unit}
          words={Object.fromEntries(words)} />
      </details>
    </Section>
  );
}

const namesMax = 4;

// nameOf is all facts of a partition: nothing tells them apart.
function nameOf({ facts }: Finding, limit = 200): string {
  const names = facts.slice(0, namesMax).map(({ fact, value }) => `${fact} ${value}`).join(", the same hosts as ");
  const more = facts.length - namesMax;
  return visible(names, limit) + (more > 0 ? ` and ${more} more` : "");
}

function effectOf({ effect }: Finding, banded: boolean): string {
  return banded ? `${percent(effect)} more of them are in the dear band than of the others`
    : `${digits(Math.exp(effect ?? 0))}× as dear`;
}

interface Row {
  finding: Finding;
  sure: boolean;
}

export function FactTable({ facts }: { facts: FactsFound }) {
  const rows: Row[] = [
    ...facts.findings.map((finding) => ({ finding, sure: true })),
    ...(facts.nearest ?? []).map((finding) => ({ finding, sure: false })),
  ];
  const asked = `${digits(facts.facts)} facts cut the hosts in ${digits(facts.partitions)} ways` +
    (facts.left > 0 ? `; of ${digits(facts.left)} nothing can be told` : "") +
    (facts.strata > 1 ? `; compared within ${digits(facts.strata)} groups` : "");
  const columns: Column<Row>[] = [
    {
      title: "Fact", sort: ({ finding }) => nameOf(finding, 1000),
      cell: ({ finding }) => <bdi>{nameOf(finding)}</bdi>,
    },
    numberColumn("Hosts with it", ({ finding }) => finding.with.length),
    numberColumn("without", ({ finding }) => finding.without),
    {
      title: "Effect", sort: ({ finding }) => finding.effect ?? NaN,
      cell: ({ finding }) => effectOf(finding, facts.banded),
    },
    numberColumn("p", ({ finding }) => finding.p),
    { title: "Goes with it", sort: ({ sure }) => (sure ? 1 : 0), cell: ({ sure }) => (sure ? "yes" : "not surely") },
  ];
  return (
    <>
      <p class="muted small">{asked}. p is for all of them together.</p>
      {rows.length > 0
        ? <SortTable label="Facts" rows={rows} columns={columns} start={-1} faint={({ sure }) => !sure}
            id={(_, place) => place} />
        : <p>No fact cuts the hosts in two parts that could be compared.</p>}
    </>
  );
}

export function FrameTable({ frames, side }: { frames: Difference[]; side: string }) {
  const columns: Column<Difference>[] = [
    {
      title: "Function", sort: (frame) => frame.name, cell: (frame) => (
        <code><bdi>{visible(frame.name, 160)}{frame.module && ` (${visible(frame.module, 60)})`}</bdi></code>),
    },
    nameColumn("Of what", (frame) => (frame.self ? "its own code" : "with what it calls")),
    numberColumn("More, of all", (frame) => frame.change.value, points),
    numberColumn("Low", (frame) => frame.change.low, points, { wide: true }),
    numberColumn("High", (frame) => frame.change.high, points, { wide: true }),
    numberColumn(`Its part in ${side}`, (frame) => frame.a, percent),
  ];
  return (
    <>
      <SortTable label="Functions" rows={frames} columns={columns} start={2} id={(_, place) => place} />
      <p class="muted small">{plural(frames.length, "function")}, of which at most one in twenty is there by chance.</p>
    </>
  );
}
