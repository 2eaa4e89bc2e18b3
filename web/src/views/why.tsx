// Why the suspects stand in this order: what was recognised, and what each rule gave or moved.
import type { Case, Entry, Suspect } from "../api/case";
import type { Verdict } from "../api/page";
import { amount, known, percent, visible, visiblePath } from "../lib/format";

export function WhyThisOrder({ found, words }: { found: Case; words: Verdict }) {
  const { why } = found;
  if (!why || !words.why) return null;
  return (
    <details class="more why">
      <summary>{found.suspects.length > 0 ? "Why this order" : "Why no suspect"}</summary>
      <p>{words.why.head}.</p>
      <h3>What was recognised</h3>
      <Ledger entries={why.entries} rest={[amount(why.nobody, "s"), words.why.rest]} />
      {words.why.passed.map((text, i) => <p key={i} class="small muted">{text}.</p>)}
      {found.suspects.length > 0 && (
        <>
          <h3>The order</h3>
          <Order suspects={found.suspects} />
          {words.why.ordered_by && <p class="small muted">{words.why.ordered_by}.</p>}
        </>
      )}
      <ul class="small">
        {why.moves.map((move, i) => (
          <li key={i}>
            <Named cause={move.first} place={move.first_place} /> stands before{" "}
            <Named cause={move.before} place={move.before_place} />:{" "}
            <Rule name={move.rule} because={move.because} />
          </li>
        ))}
        {why.left_out?.map((left, i) => (
          <li key={i}>
            <Named cause={left.cause} place={left.place} /> is left out:{" "}
            {visible(left.because, 1000)}
          </li>
        ))}
        {why.second && (
          <li>
            <Named cause={why.second.cause} place={why.second.place} /> came second:{" "}
            {visible(why.second.needs, 1000)}
          </li>
        )}
      </ul>
    </details>
  );
}

const actions: Record<string, string> = {
  gave: "to", moved: "moved to", "took back": "taken back from",
};

function Ledger({ entries, rest }: { entries: Entry[]; rest: [string, string] }) {
  return (
    <div class="tablescroll" tabIndex={0} role="region" aria-label="What was recognised">
      <table>
        <thead>
          <tr>
            <th scope="col" class="number">Amount</th><th scope="col">Claim</th>
            <th scope="col">Rule</th>
          </tr>
        </thead>
        <tbody>
          {entries.filter((entry) => entry.action !== "passed").map((entry, i) => (
            <tr key={i}>
              <td class="number">{amount(entry.seconds, "s")}</td>
              <td>
                {actions[entry.action] ?? visible(entry.action, 20)}{" "}
                <Named cause={entry.cause} place={entry.place} />
                {entry.from?.map((cause, k) => (
                  <span key={k}>{k === 0 ? " from " : " and "}<Named cause={cause} /></span>
                ))}
              </td>
              <td><Rule name={entry.rule} because={entry.because} /></td>
            </tr>
          ))}
          <tr><td class="number">{rest[0]}</td><td colSpan={2}>{rest[1]}</td></tr>
        </tbody>
      </table>
    </div>
  );
}

function Order({ suspects }: { suspects: Suspect[] }) {
  return (
    <div class="tablescroll" tabIndex={0} role="region" aria-label="The order of the suspects">
      <table>
        <thead>
          <tr>
            <th scope="col" class="number">Share</th><th scope="col">Between</th>
            <th scope="col">Suspect</th>
          </tr>
        </thead>
        <tbody>
          {suspects.map((suspect, i) => (
            <tr key={i}>
              <td class="number">{percent(suspect.share.value)}</td>
              <td class="between">{between(suspect)}</td>
              <td><Named cause={suspect.cause} place={suspect.where[0]} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// between is the interval of a share; one that reaches further than any share was cut there.
function between({ share: { low, high } }: Suspect): string {
  if (!known(low) || !known(high) || low === high) return "–";
  return low <= -1 ? "no useful interval" : `${percent(low)} to ${percent(high)}`;
}

function Named({ cause, place }: { cause: string; place?: string }) {
  return (
    <>
      <span class="cause">
        {visible(cause, 60).split(".").map((part, i) => <>{i > 0 && <>.<wbr /></>}{part}</>)}
      </span>
      {place && <> <code class="muted"><bdi>{visiblePath(place, 80)}</bdi></code></>}
    </>
  );
}

function Rule({ name, because }: { name: string; because?: string }) {
  return <>{visible(name, 60)}{because && <span class="muted">: {visible(because, 1000)}</span>}</>;
}
