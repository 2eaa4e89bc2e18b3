// What the flame graph's colours mean. Always shown: people read differences backwards.
import { paletteFor, type Paint } from "../draw/palette";
import type { Theme } from "../lib/hooks";
import type { Mode, Tree } from "../state/tree";

interface Props {
  oneSided: boolean;
  per: string;
  tree: Tree;
  theme: Theme;
  mode: Mode;
  byCPI: boolean;
}

export function Legend({ oneSided, per, tree, theme, mode, byCPI }: Props) {
  const palette = paletteFor(theme);
  if (byCPI) {
    const than = oneSided ? "the whole" : "in A";
    return (
      <div class="legend" role="group" aria-label="Legend">
        <Swatch paints={palette.more} text={`an instruction takes longer than ${than}`} sign="+" />
        <Swatch paints={palette.less} text="shorter" sign="−" />
        <Swatch paints={[palette.same]} text="cannot be told apart" sign="" />
        <Swatch paints={[{ fill: palette.rest, ink: palette.same.ink }]} text="too few samples" sign="" />
        <span class="muted">Widths as before. Colours: cycles per instruction, by samples at and below a frame.</span>
      </div>
    );
  }
  if (oneSided) {
    const kinds = tree.columns.kinds.filter((kind) => palette.kinds[kind] && kind);
    return (
      <div class="legend" role="group" aria-label="Legend">
        {kinds.map((kind) => <Swatch key={kind} paints={[palette.kinds[kind]!]} text={kind} />)}
        <span class="muted">Width is time per {per}.</span>
      </div>
    );
  }
  const widths = { diff: "B’s time, hatched frames A’s", a: "A’s time", b: "B’s time" }[mode];
  return (
    <div class="legend" role="group" aria-label="Legend">
      <Swatch paints={palette.more} text="more in B" sign="+" />
      <Swatch paints={palette.less} text="less in B" sign="−" />
      <Swatch paints={[palette.same]} text="cannot be told from zero" sign="" />
      <Swatch paints={[palette.less[1]!]} text="gone: only in A" sign="" hatched />
      <span class="muted">Widths: {widths}. Colours: the change of seconds per {per}, tested between recordings.</span>
    </div>
  );
}

function Swatch({ paints, text, sign, hatched }: { paints: Paint[]; text: string; sign?: string; hatched?: boolean }) {
  return (
    <span class="swatch">
      <span class={hatched ? "chips hatched" : "chips"} aria-hidden="true">
        {paints.map((paint, i) => (
          <span key={i} class="chip" style={{ background: paint.fill, color: paint.ink }}>
            {i === paints.length - 1 ? sign : ""}
          </span>
        ))}
      </span>
      {text}
    </span>
  );
}
