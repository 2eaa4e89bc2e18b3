// How the interval of an effect narrows, look by look.
import type { ProgressEffect } from "../api/library";
import { digits, known, metricNoun, visible } from "../lib/format";
import { useWidth } from "../lib/hooks";

const rowHeight = 18;
const looksMax = 12;

export function Narrowing({ looks }: { looks: ProgressEffect[] }) {
  const [frame, width] = useWidth<HTMLElement>();
  const shown = looks.filter((look) => known(look.ratio)).slice(-looksMax);
  const last = shown[shown.length - 1];
  if (!last) return null;
  const ends = shown.flatMap((look) => [look.ratio, look.low, look.high]).filter(known).filter((v) => v > 0);
  const low = Math.min(...ends, 1) / 1.02;
  const high = Math.max(...ends.filter((v) => v < 1e3), 1) * 1.02;
  const left = 70;
  const x = (ratio: number) => {
    const at = Math.log(Math.min(Math.max(ratio, low), high) / low) / Math.log(high / low);
    return left + at * Math.max(width - left - 12, 10);
  };
  const height = shown.length * rowHeight + 6;
  const text = `B takes ${digits(last.ratio)} times A’s ${metricNoun(last.metric)}, ` +
    `${digits(last.low)} to ${digits(last.high)}, after ${last.pairs} pairs: ${visible(last.outcome, 20)}`;
  return (
    <figure class="plot" ref={frame}>
      <figcaption>{text}</figcaption>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={text}>
          <line class="zero" x1={x(1)} x2={x(1)} y1={0} y2={height} />
          {shown.map((look, row) => {
            const y = row * rowHeight + rowHeight / 2 + 3;
            return (
              <g key={row} class="interval">
                <text class="tick" x={0} y={y + 4}>{look.pairs} pairs</text>
                <line x1={x(look.low ?? low)} x2={x(look.high ?? high)} y1={y} y2={y} />
                <path d={`M${x(look.ratio ?? 1)} ${y - 6}l6 6-6 6-6-6z`} />
              </g>
            );
          })}
        </svg>
      )}
    </figure>
  );
}
