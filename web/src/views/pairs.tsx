// The paired differences with the interval of the effect.
import type { Effect } from "../api/case";
import { axis, widthMin } from "../draw/axis";
import { known, percent, signedPercent, type Num } from "../lib/format";
import { useWidth } from "../lib/hooks";
import type { PairDot } from "../state/trials";

interface Props {
  pairs: PairDot[];
  effect: Effect | undefined;
  smallest: Num;
  higherIsBetter: boolean;
}

const left = 14;
const dotsTall = 76;
const barAt = dotsTall + 16;

export function PairPlot({ pairs, effect, smallest, higherIsBetter }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const bounds = effect ? [effect.low, effect.high, effect.ratio].filter(known).map((v) => v - 1) : [];
  const near = known(smallest) ? smallest : 0;
  const scale = axis([...pairs.map((p) => p.value), ...bounds, -near, near], left, width - left,
    Math.floor(width / 70));
  const height = dotsTall + 74;
  const bottom = height - 42;
  const zero = scale.at(0);
  const [lessWord, moreWord] = higherIsBetter ? ["worse", "better"] : ["better", "worse"];
  return (
    <figure ref={ref} class="plot">
      <figcaption>B against A within each pair</figcaption>
      {width > widthMin && (
        <svg width={width} height={height} role="img" aria-label={summary(pairs, effect)}>
          <rect class="same" x={scale.at(-near)} y={0} width={scale.at(near) - scale.at(-near)} height={bottom} />
          {scale.ticks.map((tick) => (
            <g key={tick}>
              <line class="grid" x1={scale.at(tick)} x2={scale.at(tick)} y1={0} y2={bottom} />
              <text class="tick" x={scale.at(tick)} y={bottom + 16} text-anchor="middle">{signedPercent(tick)}</text>
            </g>
          ))}
          <line class="zero" x1={zero} x2={zero} y1={0} y2={bottom} />
          {pairs.map((pair, i) => (
            <path key={pair.pair} class={`diamond${pair.valid ? "" : " out"}`}
              d={diamond(scale.at(pair.value), place(i, pairs.length))}>
              <title>{`${pair.text}: ${signedPercent(pair.value)}`}</title>
            </path>
          ))}
          {effect && known(effect.low) && known(effect.high) && (
            <g class="interval">
              <line x1={scale.at(effect.low - 1)} x2={scale.at(effect.high - 1)} y1={barAt} y2={barAt} />
              <path d={diamond(scale.at((effect.ratio ?? 1) - 1), barAt, 8)} />
              <title>{summary(pairs, effect)}</title>
            </g>
          )}
          <text class="tick" x={left} y={height - 6}>{`← B less (${lessWord})`}</text>
          <text class="tick" x={width - left} y={height - 6} text-anchor="end">{`B more (${moreWord}) →`}</text>
          {near > 0 && width > 420 && (
            <text class="tick" x={width / 2} y={height - 6} text-anchor="middle">
              {`shaded: within ${percent(near)}, too small to count`}
            </text>
          )}
        </svg>
      )}
    </figure>
  );
}

function place(i: number, count: number): number {
  return 8 + (count < 2 ? 0.5 : i / (count - 1)) * (dotsTall - 16);
}

function diamond(x: number, y: number, size = 5): string {
  return `M${x} ${y - size}L${x + size} ${y}L${x} ${y + size}L${x - size} ${y}Z`;
}

function summary(pairs: PairDot[], effect: Effect | undefined): string {
  const counted = pairs.filter((pair) => pair.valid).length;
  if (!effect || !known(effect.ratio)) return `${counted} pairs, no effect estimated`;
  return `${counted} pairs; effect ${signedPercent(effect.ratio - 1)}, ${percent(effect.confidence)} interval ` +
    `${signedPercent((effect.low ?? NaN) - 1)} to ${signedPercent((effect.high ?? NaN) - 1)}`;
}
