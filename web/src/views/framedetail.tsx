// One frame in numbers: both sides, the change and how sure it is.
import type { View } from "../draw/flame";
import { cpiOf, type Ratio } from "../draw/cpi";
import { amounts, digits, percent, signedAmount, visible } from "../lib/format";
import { whyGrey } from "../state/grey";
import { SideMark } from "./parts";

export function FrameDetail({ view, node }: { view: View; node: number }) {
  const { tree, oneSided } = view;
  const [a, b] = amounts([tree.a[node], tree.b[node]], "s");
  const part = (value: number, whole: number) => percent(whole > 0 ? value / whole : 0);
  const kind = tree.kind(node);
  return (
    <div class="framedetail">
      <div class="framename"><bdi>{visible(tree.name(node), 300)}</bdi> {kind && <span class="tag">{kind}</span>}</div>
      <div>
        <SideMark side="A" /> {a} <span class="muted">({part(tree.a[node]!, tree.a[0]!)} of A)</span>
        {!oneSided && (
          <>{"  "}<SideMark side="B" /> {b} <span class="muted">({part(tree.b[node]!, tree.b[0]!)} of B)</span></>
        )}
      </div>
      {!oneSided && <div>{changeText(view, node)}</div>}
      {!oneSided && tree.tested && !tree.decided(node) && (
        <div class="muted">
          {whyGrey({ change: tree.change(node), low: tree.low(node), high: tree.high(node),
            a: tree.a[node]! }, view.per)}
        </div>
      )}
      {tree.columns.cpi && <div>{cpiText(view, node)}</div>}
    </div>
  );
}

// cpiText says how long an instruction takes here, by samples at and below the frame.
function cpiText({ tree, oneSided }: View, node: number): string {
  const one = (ratio: Ratio | null) =>
    ratio ? `${digits(ratio.value)} (${digits(ratio.low)} to ${digits(ratio.high)})` : "too few samples";
  const a = one(cpiOf(tree, node, "a"));
  return `Cycles per instruction: ${oneSided ? a : `A ${a}, B ${one(cpiOf(tree, node, "b"))}`}`;
}

function changeText({ tree, per }: View, node: number): string {
  const unit = "s";
  const change = `Change ${signedAmount(tree.change(node), unit)} per ${per}`;
  const between = ` (between ${signedAmount(tree.low(node), unit)} and ${signedAmount(tree.high(node), unit)})`;
  if (!tree.tested) return `${change}: a sum, not tested in this shape`;
  const word = tree.vanished(node) ? ", gone in B" : tree.appeared(node) ? ", only in B" : "";
  return change + between + word + (tree.decided(node) ? "" : ": cannot be told from zero");
}
