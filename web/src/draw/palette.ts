// Colours of the flame graph. Orange, blue and grey stay apart for every common
// kind of colour blindness, and in grey print by their steps; hatching marks what
// is gone, so that no meaning hangs on colour alone.
import type { Theme } from "../lib/hooks";
import type { Tree } from "../state/tree";
import { cpiStep } from "./cpi";

export interface Paint {
  fill: string;
  ink: string;
}

export interface Palette {
  same: Paint;
  more: Paint[]; // more in B, pale to strong
  less: Paint[];
  kinds: Record<string, Paint>;
  hatch: string;
  rest: string; // for what is too narrow to draw
  edge: string; // around what is selected
  found: string; // around what the search matches
}

const paint = (ink: string) => (fill: string): Paint => ({ fill, ink });
const onLight = paint("#1d232d");
const onDark = paint("#eef1f5");

const light: Palette = {
  same: onLight("#dde1e7"),
  more: [onLight("#fbdcc4"), onLight("#f6b98d"), onLight("#ea8a4d"), paint("#ffffff")("#c85400")],
  less: [onLight("#d3e6f5"), onLight("#9dcaea"), onLight("#58a3d8"), paint("#ffffff")("#00669f")],
  kinds: {
    native: onLight("#d3d9e2"), kernel: onLight("#f4d3a2"), vdso: onLight("#efb98a"), jvm: onLight("#c3e3d2"),
    go: onLight("#bcdfee"), python: onLight("#dcd2f2"), node: onLight("#d8e8b8"), other: onLight("#e6e6e6"),
  },
  hatch: "rgba(0,60,110,.55)",
  rest: "rgba(120,130,145,.16)",
  edge: "#111722",
  found: "#8a3ffc",
};

const dark: Palette = {
  same: onDark("#3a424e"),
  more: [onDark("#57402f"), onDark("#87532b"), paint("#14100c")("#c8742f"), paint("#14100c")("#f59b55")],
  less: [onDark("#2a4355"), onDark("#2d6286"), paint("#0b1116")("#3f93c7"), paint("#0b1116")("#63bdf0")],
  kinds: {
    native: onDark("#434c5a"), kernel: onDark("#6e5223"), vdso: onDark("#7f4a24"), jvm: onDark("#2c5d48"),
    go: onDark("#27566a"), python: onDark("#4f4478"), node: onDark("#4c5f26"), other: onDark("#4a4a4a"),
  },
  hatch: "rgba(200,230,255,.6)",
  rest: "rgba(150,165,185,.14)",
  edge: "#ffffff",
  found: "#c79bff",
};

export function paletteFor(theme: Theme): Palette {
  return theme === "dark" ? dark : light;
}

const steps = 4;

// stepOf returns -4…4: the direction and strength of a decided change, 0 where it
// cannot be told from zero.
export function stepOf(tree: Tree, node: number): number {
  const change = tree.change(node);
  if (!tree.decided(node) || change === 0 || tree.changeMax === 0) return 0;
  const strength = Math.sqrt(Math.min(1, Math.abs(change) / tree.changeMax));
  return Math.sign(change) * Math.max(1, Math.ceil(strength * steps));
}

export function paintOf(palette: Palette, tree: Tree, node: number, oneSided: boolean, byCPI: boolean): Paint {
  if (!byCPI && (oneSided || !tree.tested)) return palette.kinds[tree.kind(node)] ?? palette.kinds["other"]!;
  const step = byCPI ? cpiStep(tree, node, oneSided) : stepOf(tree, node);
  if (step === null) return { fill: palette.rest, ink: palette.same.ink };
  if (step === 0) return palette.same;
  return (step > 0 ? palette.more : palette.less)[Math.abs(step) - 1] ?? palette.same;
}
