// The verdict: the answer, then the first suspect, readable in ten seconds.
import type { Report } from "../api/load";
import { known, signedPercent, visible, visiblePath } from "../lib/format";
import { SideMark } from "./parts";
import { Level, PredictionText, ProofText, ShareBar } from "./suspects";

const marks: Record<string, [string, string]> = {
  worse: ["▲", "B is worse"], better: ["▼", "B is better"], same: ["=", "No difference that counts"],
  undecided: ["?", "Undecided"], tail: ["≡", "Slow requests"], listed: ["≡", "What costs most"],
};

export function VerdictCard({ report }: { report: Report }) {
  const { found, words } = report;
  const [sign, label] = marks[words.label] ?? marks[found.outcome] ?? ["?", "Unknown outcome"];
  const first = found.suspects[0];
  return (
    <section class={`card verdict verdict-${found.outcome in marks ? found.outcome : "undecided"}`} id="verdict"
      aria-labelledby="headline">
      <p class="outcome"><span class="sign" aria-hidden="true">{sign}</span>{label}</p>
      <h1 id="headline">{words.headline}</h1>
      <p class="detail">{words.detail}</p>
      {words.others.map((other, i) => <p key={i} class="muted small">{other}</p>)}
      {words.differs && <p class="detail"><a href="#settings">A and B differ in</a>: {words.differs}</p>}
      {words.next && <p class="next">{words.next}</p>}
      <dl class="commands">
        <dt><SideMark side="A" /></dt><dd><code><bdi>{visible(found.a.command, 600)}</bdi></code></dd>
        {found.b && <><dt><SideMark side="B" /></dt><dd><code><bdi>{visible(found.b.command, 600)}</bdi></code></dd></>}
      </dl>
      {first && (
        <div class="first">
          <p class="firsthead">
            <span class="muted">First suspect</span> <a href="#suspects" class="cause">{visible(first.cause, 60)}</a>
            <ShareBar suspect={first} whole={words.whole} />
            <Level level={first.level} />
          </p>
          {words.follows[0] && <p class="muted small">{words.follows[0]}</p>}
          {first.where[0] && <p class="place"><code><bdi>{visiblePath(first.where[0], 160)}</bdi></code></p>}
          {first.prediction && (
            <p><span class="muted">Predicted: </span><PredictionText of={first.prediction} per={words.per} /></p>
          )}
          {first.remedy && (
            <p>
              <span class="muted">{first.gain ? "Holds: " : "Remedy: "}</span>
              <span class="remedy">{visible(first.remedy, 1000)}</span>
            </p>
          )}
          {first.proof && (
            <p><span class="muted">Proof: </span><ProofText proof={first.proof} metric={found.metric.name} /></p>
          )}
        </div>
      )}
      <Briefs report={report} />
    </section>
  );
}

// Briefs are the footnotes of the verdict: what limits it, one click away.
function Briefs({ report }: { report: Report }) {
  const { found, words } = report;
  const cost = found.recording_cost?.ratio;
  const counted = (notes: string[], noun: string) =>
    notes.length > 0 && <a href="#limits">{notes.length} {noun}{notes.length === 1 ? "" : "s"}</a>;
  return (
    <p class="briefs">
      {known(cost) && <a href="#limits">recording cost {signedPercent(cost - 1)}</a>}
      {words.left_out.count && <a href="#trials">{words.left_out.count}</a>}
      {counted(found.blind_spots, "blind spot")}
      {counted(found.warnings, "warning")}
    </p>
  );
}
