// The suspects: what each accounts for, where, the evidence, the proof, the remedy.
import type { Case, Place, Prediction, Proof, Suspect } from "../api/case";
import type { Verdict } from "../api/page";
import { amount, amounts, known, metricNoun, percent, visible, visiblePath, type Num } from "../lib/format";
import { Section, SideMark } from "./parts";
import { LineDrawing, PriceText } from "./line";
import { WhyThisOrder } from "./why";

interface Props {
  found: Case;
  words: Verdict;
  hasFrame: (name: string) => boolean;
  onFind: (frame: string) => void; // show a frame in the flame graph
}

export function Suspects({ found, words, hasFrame, onFind }: Props) {
  const { whole } = words;
  return (
    <Section id="suspects" title={found.b ? "Suspects" : "Causes that match"}>
      {found.suspects.length === 0 && <p>{noneText(found)}</p>}
      {found.suspects.map((suspect, i) => (
        <details key={i} class="suspect" open={i === 0}>
          <summary>
            <span class="rank">{i + 1}</span>
            <span class="cause">{visible(suspect.cause, 60)}</span>
            <ShareBar suspect={suspect} whole={whole} />
            <Level level={suspect.level} />
          </summary>
          <SuspectBody suspect={suspect} follows={words.follows[i] ?? ""} found={found} words={words}
            hasFrame={hasFrame} onFind={onFind} />
        </details>
      ))}
      <WhyThisOrder found={found} words={words} />
      {words.also_seen.length > 0 && (
        <>
          <h3>Also seen, too small for a suspect</h3>
          <ul class="notes">{words.also_seen.map((text, i) => <li key={i}>{text}</li>)}</ul>
        </>
      )}
    </Section>
  );
}

function noneText(found: Case): string {
  switch (found.outcome) {
    case "same":
      return "None: A and B do not differ by an amount that counts, so there is nothing to explain.";
    case "undecided":
      return "None: whether A and B differ is not decided, so there is nothing to explain yet." +
        (found.profile ? " The differences below are what the recorded runs showed." : "");
    default:
      if (!found.profile) {
        return "Not looked for: nothing was recorded. The blind spots and warnings say why.";
      }
      return "None: no cause of the catalogue explains enough. The differences below are what was seen; " +
        "the blind spots say what could not be.";
  }
}

const levels: Record<string, [string, string]> = {
  observed: ["observed", "the signal is there; nothing says yet that it matters"],
  explains: ["explains", "it accounts for this share of the change"],
  predicted: ["predicted", "count × cost measured on this host agrees with the change"],
  proven: ["proven ✓", "flipping it in randomised trials takes the change away"],
  refuted: ["refuted ✗", "flipping it in randomised trials did not take the change away"],
};

export function Level({ level }: { level: string }) {
  const [text, title] = levels[level] ?? [visible(level, 20), "unknown level"];
  return <span class={`level level-${level in levels ? level : "observed"}`} title={title}>{text}</span>;
}

function clamp(value: Num): number {
  return known(value) ? Math.max(0, Math.min(1, value)) : 0;
}

export function ShareBar({ suspect, whole }: { suspect: Suspect; whole: string }) {
  const { value, low, high } = suspect.share;
  const interval = known(low) && known(high) && low !== high;
  const text = known(value)
    ? `${percent(value)} of ${whole}` : `share of ${whole} unknown`;
  return (
    <span class="share">
      <svg class="sharebar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" x="0" y="3" width="100" height="6" />
        <rect class="amount" x="0" y="3" width={clamp(value) * 100} height="6" />
        {interval && (
          <>
            <line class="whisker" x1={clamp(low) * 100} x2={clamp(high) * 100} y1="6" y2="6" />
            <line class="whisker" x1={clamp(low) * 100} x2={clamp(low) * 100} y1="2" y2="10" />
            <line class="whisker" x1={clamp(high) * 100} x2={clamp(high) * 100} y1="2" y2="10" />
          </>
        )}
      </svg>
      <span>{text}{interval && <span class="muted"> ({percent(low)} to {percent(high)})</span>}</span>
    </span>
  );
}

type BodyProps = { suspect: Suspect; follows: string } & Props;

function SuspectBody({ suspect, follows, found, words, hasFrame, onFind }: BodyProps) {
  const twoSided = Boolean(found.b);
  const { per } = words;
  return (
    <div class="suspectbody">
      {suspect.claim && <p class="claim">{visible(suspect.claim, 1000)}</p>}
      <dl class="facts">
        {suspect.where.length > 0 && (
          <>
            <dt>where</dt>
            <dd>
              {suspect.where.map((text, i) => (
                <PlaceLine key={i} text={text} place={suspect.places[i]} hasFrame={hasFrame}
                  onFind={onFind} />
              ))}
            </dd>
          </>
        )}
        {follows && <><dt>follows</dt><dd>{follows}</dd></>}
        {known(suspect.seconds.value) && suspect.seconds.value !== 0 && (
          <>
            <dt>amount</dt>
            <dd>{amount(suspect.seconds.value, found.metric.unit)} per {per}{interval(suspect, found)}</dd>
          </>
        )}
        {suspect.prediction && (
          <><dt>predicted</dt><dd><PredictionText of={suspect.prediction} per={per} /></dd></>
        )}
        {suspect.remedy && (
          <><dt>{suspect.gain ? "holds" : "remedy"}</dt><dd class="remedy">{visible(suspect.remedy, 1000)}</dd></>
        )}
        {suspect.price && <><dt>price</dt><dd><PriceText price={suspect.price} /></dd></>}
        {suspect.proof && <><dt>proof</dt><dd><ProofText proof={suspect.proof} metric={found.metric.name} /></dd></>}
        {suspect.against?.map((text, i) => <Against key={i} text={text} />)}
      </dl>
      {suspect.line && <LineDrawing line={suspect.line} />}
      {suspect.evidence.length > 0 && (
        <div class="tablescroll" tabIndex={0} role="region" aria-label={`Evidence for ${visible(suspect.cause, 60)}`}>
          <table class="evidence">
            <thead>
              <tr>
                <th scope="col">Evidence</th><th scope="col" class="signal">Signal</th>
                <th scope="col" class="number"><SideMark side="A" /></th>
                {twoSided && <th scope="col" class="number"><SideMark side="B" /></th>}
                {twoSided && <th scope="col" class="number">Change</th>}
              </tr>
            </thead>
            <tbody>{suspect.evidence.map((e, i) => <EvidenceRow key={i} evidence={e} twoSided={twoSided} />)}</tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function interval(suspect: Suspect, found: Case): string {
  const { low, high } = suspect.seconds;
  if (!known(low) || !known(high) || low === high) return "";
  const [from, to] = amounts([low, high], found.metric.unit);
  return ` (between ${from} and ${to})`;
}

// agreement says whether a prediction and what was observed agree; of a floor, how much of it that
// is.
function agreement({ predicted: { value: floor }, observed: { value: seen }, ...of }: Prediction): string {
  if (!of.agrees) return "does not agree";
  if (of.at_least && known(floor) && known(seen) && floor < seen) return `${percent(floor / seen)} of that`;
  return "agrees";
}

// PredictionText says what number × cost gives beside what was observed, and whether they agree.
export function PredictionText({ of, per }: { of: Prediction; per: string }) {
  const { low, high } = of.observed;
  const seconds = (ns: Num) => (known(ns) ? ns / 1e9 : null);
  return (
    <>
      {of.at_least && "at least "}{amount(of.count, "")} × {amount(seconds(of.cost_ns.value), "s")} ={" "}
      {amount(of.predicted.value, "s")} per {per} by number × cost here ({visible(of.operation, 100)}), observed{" "}
      {amount(of.observed.value, "s")}
      {known(low) && known(high) && low < high && <> ({amount(low, "s")} to {amount(high, "s")})</>}:{" "}
      <strong>{agreement(of)}</strong>
    </>
  );
}

function Against({ text }: { text: string }) {
  return <><dt>against</dt><dd>{visible(text, 1000)}</dd></>;
}

// framed are the kinds of places whose names are frames; cases of the first schema tell no kind.
const framed = ["code", "kernel function", "system call", ""];

function PlaceLine({ text, place, hasFrame, onFind }: {
  text: string; place: Place | undefined;
} & Pick<Props, "hasFrame" | "onFind">) {
  const last = (place && framed.includes(place.kind) && place.name.split(";").pop()) || "";
  return (
    <div class="place">
      <code><bdi>{visiblePath(text, 400)}</bdi></code>
      {hasFrame(last) && (
        <button type="button" class="link small noprint" onClick={() => onFind(last)}>find in flame graph</button>
      )}
    </div>
  );
}

function EvidenceRow({ evidence, twoSided }: { evidence: Suspect["evidence"][number]; twoSided: boolean }) {
  const { a, b, unit } = evidence;
  const silent = a === 0 && b === 0;
  const difference = known(a) && known(b) ? b - a : null;
  const [textA, textB, textChange] = silent ? ["–", "–", "–"] : amounts([a, b, difference], unit);
  return (
    <tr>
      <td>{visible(evidence.text, 1000)}</td>
      <td class="muted short signal">{visible(evidence.signal, 20)}</td>
      <td class="number">{textA}</td>
      {twoSided && (
        <>
          <td class="number">{textB}</td>
          <td class="number">{known(difference) && difference > 0 ? "+" : ""}{textChange}</td>
        </>
      )}
    </tr>
  );
}

export function ProofText({ proof, metric }: { proof: Proof; metric: string }) {
  const { effect } = proof;
  return (
    <>
      <strong>{visible(proof.verdict, 20)}</strong>: {visible(proof.knob, 60)} from{" "}
      <code>{visible(proof.from, 60)}</code> to <code>{visible(proof.to, 60)}</code> in {proof.trials} trials
      {known(effect.ratio) && effect.ratio > 0 && (
        <> made {metricNoun(metric)} {effect.ratio.toFixed(2)}× of what it was ({percent(effect.confidence)} between
          {" "}{(effect.low ?? NaN).toFixed(2)}× and {(effect.high ?? NaN).toFixed(2)}×)</>
      )}
      {proof.why && <>; {visible(proof.why, 1000)}</>}.
    </>
  );
}
