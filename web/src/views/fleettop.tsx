// What the time of the whole fleet goes to, and what a proven effect would save.
import type { Interval, Part, TopFound, WorthFound } from "../api/fleet";
import { digits, known, percent, visible, type Num } from "../lib/format";
import { between, points } from "../state/hosts";
import type { AnswerProps } from "./fleetanswer";
import { nameColumn, numberColumn } from "./columns";
import { Section } from "./parts";
import { SortTable, type Column } from "./sorttable";

const fifth = { value: -0.2, low: -0.2, high: -0.2 };
const price = "in the unit of the price";

export function TopAnswer({ answer, top, typed, onAsk }: AnswerProps & { top: TopFound }) {
  return (
    <Section id="top" title={`${digits(top.cores)} cores of ${visible(answer.service, 100)}`}
      note={top.per_year ? `${digits(top.per_year)} a year, ${price}.` : ""}>
      {top.setting ? (
        <Parts label={`Values of ${visible(top.setting, 60)}`} parts={top.values ?? []} what={visible(top.setting, 60)}
          onWorth={(value) =>
            onAsk({ ...typed, question: "worth", setting: `${top.setting}=${value}`, effect: fifth })} />
      ) : (
        <>
          <h3>Functions by their own code</h3>
          <Parts label="Functions by their own code" parts={top.self} what="Function" />
          <h3 class="second">With what they call</h3>
          <Parts label="Functions with what they call" parts={top.total} what="Function"
            onWorth={(frame) => onAsk({ ...typed, question: "worth", frame, effect: fifth })} />
        </>
      )}
    </Section>
  );
}

function Parts({ label, parts, what, onWorth }: {
  label: string; parts: Part[]; what: string; onWorth?: (name: string) => void;
}) {
  const most = Math.max(0.01, ...parts.map((part) => part.share.high ?? part.share.value ?? 0));
  const columns: Column<Part>[] = [
    { title: what, sort: (part) => part.name, cell: (part) => <code><bdi>{visible(part.name, 160)}</bdi></code> },
    numberColumn("Share", (part) => part.share.value, percent),
    numberColumn("Low", (part) => part.share.low, percent, { wide: true }),
    numberColumn("High", (part) => part.share.high, percent, { wide: true }),
    {
      title: "Of the fleet", wide: true, sort: (part) => part.share.value ?? NaN,
      cell: (part) => <Bar part={part} most={most} />,
    },
    numberColumn("Cores", (part) => part.cores.value),
    numberColumn("Hosts", (part) => part.hosts, digits, { wide: true }),
    nameColumn("Most on", (part) => part.most, { wide: true, limit: 80 }),
  ];
  if (onWorth) {
    columns.push({
      title: "Worth", sort: (part) => part.name, cell: (part) => (
        <button type="button" class="link small" aria-label={`What a fifth less of ${visible(part.name, 80)} is worth`}
          onClick={() => onWorth(part.name)}>a fifth less?</button>),
    });
  }
  if (parts.length === 0) return <p class="muted">No window of this time has stacks of the service.</p>;
  return <SortTable label={label} rows={parts} columns={columns} start={1} limit={30} id={(part) => part.name} />;
}

const wide = 110;

// Bar is a share with its interval.
function Bar({ part: { share }, most }: { part: Part; most: number }) {
  const at = (value: number | null) => ((known(value) ? Math.max(0, value) : 0) / most) * wide;
  return (
    <svg class="sharebar" width={wide} height="12" aria-hidden="true">
      <rect class="track" width={wide} height="12" />
      <rect class="amount" width={at(share.value)} height="12" />
      <path class="whisker" d={`M${at(share.low)} 6H${at(share.high)}`} />
    </svg>
  );
}

export function WorthAnswer({ answer, worth }: AnswerProps & { worth: WorthFound }) {
  const rows: [string, Interval][] = [
    ["Cores that it takes now", worth.spent], ["Change of its time", worth.effect], ["Cores saved", worth.cores],
  ];
  if (worth.per_year.value) rows.push(["Saved in a year", worth.per_year]);
  const text = (name: string) => (name.startsWith("Change") ? points : digits);
  const end = (title: string, of: (value: Interval) => Num): Column<[string, Interval]> => ({
    title, number: true, sort: ([, value]) => of(value) ?? NaN, cell: ([name, value]) => text(name)(of(value)),
  });
  const columns: Column<[string, Interval]>[] = [
    { title: "What", sort: ([name]) => name, cell: ([name]) => name },
    end("Value", (value) => value.value), end("Low", (value) => value.low), end("High", (value) => value.high),
  ];
  const { cores, per_year: year, effect } = worth;
  return (
    <Section id="worth"
      title={`${digits(cores.value)} cores over ${digits(answer.hosts)} hosts (${between(cores, digits)})`}
      note={year.value ? `${digits(year.value)} a year, ${price}.` : ""}>
      <p>If the time of <code><bdi>{visible(worth.what, 160)}</bdi></code> changes by {points(effect.value)}.</p>
      <SortTable label={`Worth of ${visible(worth.what, 60)}`} rows={rows} columns={columns} start={-1}
        id={([name]) => name} />
    </Section>
  );
}
