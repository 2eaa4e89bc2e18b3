// A service over time: its level by hour, where it changed, and what was rolled out.
import type { Change, ChangesFound, LevelHour, Rollout } from "../api/fleet";
import { pathOf } from "../draw/plane";
import { timeTicks } from "../draw/timeaxis";
import { digits, visible } from "../lib/format";
import { between, points, shown, unitName, unitOf, unitTitle, utc, valueText } from "../state/hosts";
import { plural, type AnswerProps } from "./fleetanswer";
import { nameColumn, numberColumn } from "./columns";
import { Section } from "./parts";
import { Plane, type Frame } from "./plane";
import { SortTable, type Column } from "./sorttable";

const second = (text: string) => Date.parse(text) / 1000;

export function ChangesAnswer({ answer, changes }: AnswerProps & { changes: ChangesFound }) {
  const found = changes.watch?.changes ?? [];
  const told = changes.rollouts.filter((rollout) => rollout.told);
  const head = found.length > 0 ? `The level changed ${found.length === 1 ? "once" : `${found.length} times`}`
    : changes.watch ? "No change of the level" : "The level is not watched";
  const more = told.length > 0 ? `; ${plural(told.length, "roll-out")} changed the cost` : "";
  return (
    <Section id="changes" title={head + more}>
      {changes.short && <p>Why not: {visible(changes.short, 300)}.</p>}
      {changes.watch && found.length === 0 && (
        <p>A step of {points(changes.watch.findable)} is found within a day in most cases.</p>
      )}
      <Course answer={answer} changes={changes} found={found} />
      {found.length > 0 && <Steps found={found} changes={changes} />}
      {changes.rollouts.length > 0 && <Rollouts rollouts={changes.rollouts} />}
    </Section>
  );
}

function Course({ answer, changes, found }: Pick<AnswerProps, "answer"> & { changes: ChangesFound; found: Change[] }) {
  const { rollouts } = changes;
  const course = changes.course ?? []; // an older hub sends none
  if (course.length === 0) return <p class="muted">No hour of this time has a value.</p>;
  const at = course.map((hour) => hour.at);
  const values = course.map((hour) => shown(hour.level, answer.unit)!);
  const ticks = timeTicks(at[0]!, at.at(-1)!);
  const marks = [
    ...found.map((change) => `${points(change.size.value)} since ${utc(second(change.at))}`),
    ...rollouts.map((rollout) => `version ${visible(rollout.version, 60)} from ${utc(rollout.start)}`),
  ];
  const summary = `${visible(answer.unit, 100)} of ${visible(answer.service, 100)} by hour. ${marks.join(", ")}`;
  return (
    <>
      <Plane caption={`${visible(unitName(answer.unit), 100)} by hour, each host held against itself`} tall={300}
        summary={summary.slice(0, 2000)}
        x={{ values: at, log: false, title: "UTC", ticks: ticks.at, text: ticks.text }}
        y={{ values, log: false, title: answer.unit, unit: unitOf(answer.unit) }}>
        {(frame) => (
          <>
            {found.map((change, i) => <Step key={i} change={change} frame={frame} />)}
            {rollouts.map((rollout, i) => (
              <RolloutMark key={rollout.version} rollout={rollout} frame={frame} row={i % 4} />
            ))}
            {parts(course).map((part, i) => (
              <path key={i} class="line series0"
                d={pathOf(part.map((hour) => [frame.x.at(hour.at), frame.y.at(shown(hour.level, answer.unit)!)]))} />
            ))}
            {course.length < 400 && course.map((hour) => (
              <circle key={hour.at} class="speck series0" r={2.5} cx={frame.x.at(hour.at)}
                cy={frame.y.at(shown(hour.level, answer.unit)!)}>
                <title>{`${utc(hour.at)}: ${valueText(hour.level, answer.unit)}, ${plural(hour.hosts, "host")}`}</title>
              </circle>
            ))}
          </>
        )}
      </Plane>
      <details class="more">
        <summary>Table of the same data</summary>
        <HourTable answer={answer} course={course} />
      </details>
    </>
  );
}

// parts are hours without a hole between them.
function parts(course: LevelHour[]): LevelHour[][] {
  const found: LevelHour[][] = [];
  for (const [i, hour] of course.entries()) {
    const before = course[i - 1];
    if (!before || hour.at - before.at > 3600) found.push([]);
    found.at(-1)!.push(hour);
  }
  return found;
}

function Step({ change, frame }: { change: Change; frame: Frame }) {
  const bounded = (text: string) => Math.max(frame.left, Math.min(frame.right, frame.x.at(second(text))));
  const [from, to, x] = [bounded(change.low), bounded(change.high), bounded(change.at)];
  return (
    <g>
      <rect class="crossing" x={from} width={Math.max(2, to - from)} y={frame.top} height={frame.bottom - frame.top} />
      <line class="mark" x1={x} x2={x} y1={frame.top} y2={frame.bottom}>
        <title>{`${points(change.size.value)} since ${utc(second(change.at))}`}</title>
      </line>
      <text class="tick strongtick" x={x} y={frame.top + 10} dx={x > (frame.left + frame.right) / 2 ? -5 : 5}
        text-anchor={x > (frame.left + frame.right) / 2 ? "end" : "start"}>{points(change.size.value)}</text>
    </g>
  );
}

function RolloutMark({ rollout, frame, row }: { rollout: Rollout; frame: Frame; row: number }) {
  const x = Math.max(frame.left, Math.min(frame.right, frame.x.at(rollout.start)));
  const left = x > (frame.left + frame.right) / 2;
  const name = visible(rollout.version, 16);
  return (
    <g>
      <line class={`rollout${rollout.told ? " rollout-told" : ""}`} x1={x} x2={x} y1={frame.top} y2={frame.bottom}>
        <title>{`version ${visible(rollout.version, 100)} from ${utc(rollout.start)}`}</title>
      </line>
      <text class="tick" x={x} y={frame.bottom - 6 - 14 * row} dx={left ? -5 : 5} text-anchor={left ? "end" : "start"}>
        {name}
      </text>
    </g>
  );
}

function HourTable({ answer, course }: Pick<AnswerProps, "answer"> & { course: LevelHour[] }) {
  const columns: Column<LevelHour>[] = [
    nameColumn("Hour (UTC)", (hour) => utc(hour.at)),
    {
      title: visible(unitTitle(answer.unit), 60), number: true, sort: (hour) => shown(hour.level, answer.unit) ?? NaN,
      cell: (hour) => valueText(hour.level, answer.unit),
    },
    numberColumn("Hosts", (hour) => hour.hosts),
  ];
  return (
    <SortTable label={`Level of ${visible(answer.service, 60)} by hour`} rows={course} columns={columns} start={-1}
      limit={48} id={(hour) => hour.at} />
  );
}

function Steps({ found, changes }: { found: Change[]; changes: ChangesFound }) {
  const then = (change: Change) => changes.together.filter((one) => one.change === found.indexOf(change))
    .map((one) => `${one.what} on ${plural(one.hosts, "host")}`).join("; ") || "nothing that was seen";
  const columns: Column<Change>[] = [
    nameColumn("Since (UTC)", (change) => utc(second(change.at))),
    nameColumn("Earliest", (change) => utc(second(change.low)), { wide: true }),
    nameColumn("Latest", (change) => utc(second(change.high)), { wide: true }),
    numberColumn("Change", (change) => change.size.value, points),
    numberColumn("Low", (change) => change.size.low, points, { wide: true }),
    numberColumn("High", (change) => change.size.high, points, { wide: true }),
    nameColumn("What changed on hosts then", then, { limit: 500 }),
  ];
  return (
    <>
      <h3 class="second">Changes of the level</h3>
      <SortTable label="Changes of the level" rows={found} columns={columns} start={-1} id={(_, place) => place} />
    </>
  );
}

function Rollouts({ rollouts }: { rollouts: Rollout[] }) {
  const says = (rollout: Rollout) => {
    if (!rollout.effect) return rollout.why ?? "";
    const change = `${points(rollout.effect.change.value)} (${between(rollout.effect.change, points)})`;
    return rollout.told ? `${change} against the old version in the same hours`
      : `no sure difference: ${change}, p = ${digits(rollout.effect.p)}`;
  };
  const columns: Column<Rollout>[] = [
    nameColumn("Version", (rollout) => rollout.version, { limit: 80 }),
    nameColumn("From (UTC)", (rollout) => utc(rollout.start)),
    numberColumn("Hosts", (rollout) => rollout.hosts),
    numberColumn("Change", (rollout) => rollout.effect?.change.value, points, { wide: true }),
    numberColumn("Low", (rollout) => rollout.effect?.change.low, points, { wide: true }),
    numberColumn("High", (rollout) => rollout.effect?.change.high, points, { wide: true }),
    nameColumn("What it did", says, { limit: 300 }),
  ];
  return (
    <>
      <h3 class="second">Roll-outs</h3>
      <SortTable label="Roll-outs" rows={rollouts} columns={columns} start={-1} faint={(rollout) => !rollout.told}
        id={(rollout) => rollout.version} />
    </>
  );
}
