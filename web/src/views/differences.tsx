// The ranked differences behind the suspects: all layers in one unit.
import { useMemo, useState } from "preact/hooks";
import type { Case, Item } from "../api/case";
import type { Verdict } from "../api/page";
import { amounts, known, pattern, percent, visible, visiblePath } from "../lib/format";
import { Section } from "./parts";
import { onPaper, Printed, SortTable, type Column } from "./sorttable";

const rowsShort = 15;
const intervalMax = 10; // of a share: where an interval ends there nothing is known of it

export function Differences({ found, words }: { found: Case; words: Verdict }) {
  const twoSided = Boolean(found.b);
  const [search, setSearch] = useState("");
  const [onlyDecided, setOnlyDecided] = useState(false);
  const [all, setAll] = useState(false);
  const rows = useMemo(() => {
    const regex = pattern(search);
    const matches = (item: Item) =>
      !regex || [item.name, item.where ?? "", item.signal].some((text) => regex.test(text));
    return found.items.filter((item) => (!onlyDecided || item.decided) && matches(item));
  }, [found, search, onlyDecided]);
  const shown = all ? rows : rows.slice(0, rowsShort);
  return (
    <Section id="differences" title={twoSided ? "Differences, ranked" : "What costs most"}
      note={`Amounts are per ${words.per}.` + (twoSided
        ? ` Grey rows cannot be told from zero with the ${words.kept}s that were made.` : "")}>
      {found.items.length === 0 ? <p class="muted">Nothing was recorded that could be ranked.</p> : (
        <>
          <div class="toolbar">
            {twoSided && (
              <label class="check">
                <input type="checkbox" checked={onlyDecided}
                  onChange={(event) => setOnlyDecided(event.currentTarget.checked)} />
                only what is decided
              </label>
            )}
            <span class="grow" />
            <input type="search" class="field" placeholder="filter" aria-label="Filter the differences" value={search}
              onInput={(event) => setSearch(event.currentTarget.value)} />
          </div>
          <SortTable label="Differences" rows={shown} columns={twoSided ? columnsTwo : columnsOne(words.per)} start={-1}
            faint={(item) => twoSided && !item.decided} id={(item, place) => `${item.signal}|${item.name}|${place}`} />
          {shown.length <= onPaper && <Printed rows={shown.length} of={rows.length} />}
          {rows.length > rowsShort && (
            <button type="button" class="button noprint" onClick={() => setAll(!all)}>
              {all ? "Show fewer" : `Show all ${rows.length}`}
            </button>
          )}
        </>
      )}
    </Section>
  );
}

const signalColumn: Column<Item> = {
  title: "Signal", sort: (item) => item.signal, cell: (item) => <span class="tag">{visible(item.signal, 20)}</span>,
};
const nameColumn: Column<Item> = {
  title: "What", sort: (item) => item.name,
  cell: (item) => <code title={visiblePath(item.name, 600)}><bdi>{visiblePath(item.name, 90)}</bdi>
    {item.where && <> ‹ <bdi>{visiblePath(item.where, 90)}</bdi></>}</code>,
};

function values(item: Item): string[] {
  return amounts([item.a, item.b, item.change.value], item.unit);
}

const columnsTwo: Column<Item>[] = [
  signalColumn, nameColumn,
  { title: "A", number: true, sort: (item) => item.a ?? 0, cell: (item) => values(item)[0] },
  { title: "B", number: true, sort: (item) => item.b ?? 0, cell: (item) => values(item)[1] },
  {
    title: "Change", number: true, sort: (item) => item.change.value ?? 0,
    cell: (item) => (
      <span title={between(item)}>{known(item.change.value) && item.change.value > 0 ? "+" : ""}{values(item)[2]}</span>
    ),
  },
  { title: "Share of the change", number: true, sort: (item) => item.share.value ?? 0, cell: share },
  { title: "Decided", sort: (item) => Number(item.decided), cell: (item) => (item.decided ? "yes" : "no") },
];

const columnsOne = (per: string): Column<Item>[] => [
  signalColumn, nameColumn,
  { title: `Per ${per}`, number: true, sort: (item) => item.a ?? 0, cell: (item) => amounts([item.a], item.unit)[0] },
  { title: "Share", number: true, sort: (item) => item.share.value ?? 0, cell: share },
];

function between(item: Item): string {
  const [low, high] = amounts([item.change.low, item.change.high], item.unit);
  return `between ${low} and ${high}`;
}

function share(item: Item) {
  const { value, low, high } = item.share;
  if (!known(value) || (value === 0 && low === 0 && high === 0)) return <span class="muted">–</span>;
  return (
    <span>
      {percent(value)}
      {known(low) && known(high) && low !== high && low > -intervalMax && high < intervalMax && (
        <span class="muted small"> ({percent(low)} to {percent(high)})</span>
      )}
    </span>
  );
}
