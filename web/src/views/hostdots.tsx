// A dot for each host: by its value, in order or by its load, each group with a mark of its own.
import { useMemo, useState } from "preact/hooks";
import type { HostValue } from "../api/fleet";
import { spansMuch } from "../draw/plane";
import { digits, visible } from "../lib/format";
import { labelsOf, shown, unitOf, unitTitle, utc, valueText } from "../state/hosts";
import { nameColumn, numberColumn } from "./columns";
import { Choice } from "./parts";
import { Plane, SeriesLegend, Spot } from "./plane";
import { SortTable, type Column } from "./sorttable";

const dotsMax = 3000; // more are told, and stand in the table

interface Props {
  hosts: HostValue[];
  unit: string;
  groups: [string, string][]; // key and words, in the order of the legend
  groupOf?: (host: HostValue) => string;
  lines?: [string, number][]; // levels across: what it is, and its value
  caption: string;
}

export function HostDots({ hosts, unit, groups, groupOf, lines, caption }: Props) {
  const group = groupOf ?? ((host: HostValue) => host.group ?? "");
  const [by, setBy] = useState("order");
  const measured = useMemo(
    () => hosts.filter((host) => (host.value ?? 0) > 0).sort((x, y) => (x.value ?? 0) - (y.value ?? 0)), [hosts]);
  const loads = measured.every((host) => (host.load ?? 0) > 0) && measured.length > 0;
  const byLoad = loads && by === "load";
  const every = Math.max(1, Math.ceil(measured.length / dotsMax));
  const dots = measured.map((host, place) => ({ host, place })).filter(({ place }) => place % every === 0);
  const values = measured.map((host) => shown(host.value, unit)!);
  const levels = (lines ?? []).map(([name, value]) => [name, shown(value, unit)!] as const);
  const heights = levels.map(([, value]) => value);
  const across = byLoad ? measured.map((host) => host.load!) : [0, Math.max(1, measured.length - 1)];
  const counts = groups.map(([key, words]): [string, string, number] =>
    [key, words, measured.filter((host) => group(host) === key).length]).filter(([, , count]) => count > 0);
  const alongX = byLoad ? "requests a second" : "hosts, the cheapest first";
  const told = counts.map(([, words, count]) => `${words}: ${count}`).join(", ");
  return (
    <>
      {loads && (
        <Choice label="Across" value={by} options={[["order", "In order"], ["load", "By load"]]} onChange={setBy} />
      )}
      <Plane caption={caption} tall={300}
        summary={`${measured.length} hosts by ${visible(unit, 100)}. ${told}`.slice(0, 2000)}
        x={{ values: across, log: byLoad && spansMuch(across), title: alongX }}
        y={{ values: [...values, ...heights], log: spansMuch(values), title: unit, unit: unitOf(unit) }}>
        {(frame) => (
          <>
            {levels.map(([name, value]) => (
              <g key={name}>
                <line class="level-line" x1={frame.left} x2={frame.right} y1={frame.y.at(value)}
                  y2={frame.y.at(value)} />
                <text class="tick" x={frame.left + 3} y={frame.y.at(value) - 4}>{name}</text>
              </g>
            ))}
            {dots.map(({ host, place }) => (
              <Spot key={host.host} series={Math.max(0, groups.findIndex(([key]) => key === group(host)))}
                x={frame.x.at(byLoad ? host.load! : place)} y={frame.y.at(shown(host.value, unit)!)}
                hollow={group(host) === "between"}
                text={`${visible(host.host, 100)}: ${valueText(host.value, unit)}` +
                  (host.load ? `, ${digits(host.load)} requests a second` : "")} />
            ))}
          </>
        )}
      </Plane>
      {counts.length > 1 && <Legend groups={groups} counts={counts} />}
      {every > 1 && <p class="muted small">One of {every} hosts is drawn; the table has all.</p>}
    </>
  );
}

// Legend keeps the mark of each group, also where a group before it has no host.
function Legend({ groups, counts }: { groups: [string, string][]; counts: [string, string, number][] }) {
  const names = groups.map(([key, words]) => {
    const count = counts.find(([other]) => other === key)?.[2] ?? 0;
    return `${words}: ${count}`;
  });
  return <SeriesLegend names={names} />;
}

export function HostTable({ label, hosts, unit, words }: {
  label: string; hosts: HostValue[]; unit: string; words?: Record<string, string>;
}) {
  const any = (has: (host: HostValue) => unknown) => hosts.some((host) => Boolean(has(host)));
  const columns: Column<HostValue>[] = [
    nameColumn("Host", (host) => host.host),
    {
      title: visible(unitTitle(unit), 60), number: true, sort: (host) => shown(host.value, unit) ?? NaN,
      cell: (host) => (host.value ? valueText(host.value, unit) : "none"),
    },
  ];
  const add = (when: boolean, column: Column<HostValue>) => when && columns.push(column);
  add(any((host) => host.before), {
    title: "Before", number: true, sort: (host) => shown(host.before, unit) ?? NaN,
    cell: (host) => (host.before ? valueText(host.before, unit) : ""),
  });
  add(any((host) => host.group),
    nameColumn("Group", (host) => words?.[host.group ?? ""] ?? host.group ?? "", { limit: 60 }));
  add(any((host) => host.load),
    numberColumn("Requests a second", (host) => host.load || null, digits, { none: "not seen" }));
  add(any((host) => host.cores) && unitOf(unit) !== "cores",
    numberColumn("Cores", (host) => host.cores ?? 0, digits, { wide: true }));
  add(any((host) => host.version), nameColumn("Version", (host) => host.version ?? "", { limit: 60 }));
  add(any((host) => labelsOf(host)), nameColumn("Labels", labelsOf, { wide: true }));
  add(true, numberColumn("Windows", (host) => host.windows));
  add(true, nameColumn("Last (UTC)", (host) => utc(host.last), { wide: true }));
  return (
    <SortTable label={label} rows={hosts} columns={columns} start={1} limit={30} faint={(host) => host.windows === 0}
      id={(host) => host.host} />
  );
}
