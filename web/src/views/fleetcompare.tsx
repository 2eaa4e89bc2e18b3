// Two groups of hosts, or the same at two times.
import type { ComparisonFound } from "../api/fleet";
import { digits, percent, visible } from "../lib/format";
import { between, points } from "../state/hosts";
import type { AnswerProps } from "./fleetanswer";
import { FrameTable } from "./fleetfacts";
import { HostDots, HostTable } from "./hostdots";
import { Section, SideMark } from "./parts";

const groups: [string, string][] = [["A", "side A"], ["B", "side B"]];

export function CompareAnswer({ answer, compare }: AnswerProps & { compare: ComparisonFound }) {
  const sure = (compare.p ?? 1) < 0.05;
  const { value } = compare.change;
  const head = !sure ? "No difference is seen" : (value ?? 0) > 0 ? "B is dearer" : "B is cheaper";
  const hosts = answer.each ?? [];
  const units = visible(compare.units, 20);
  const size = `${points(value)} (${between(compare.change, points)}), p = ${digits(compare.p)}`;
  return (
    <>
      <Section id="compare" title={`${head}: ${size}`}>
        <dl class="commands">
          <dt><SideMark side="A" /></dt><dd><bdi>{visible(compare.name_a, 200)}</bdi>: {digits(compare.a)} {units}</dd>
          <dt><SideMark side="B" /></dt><dd><bdi>{visible(compare.name_b, 200)}</bdi>: {digits(compare.b)} {units}</dd>
        </dl>
        <p>
          {compare.adjusted.length > 0 ? `Adjusted for ${visible(compare.adjusted.join(", "), 200)}. `
            : "Not adjusted. "}
          The {units} differ by {percent(compare.residual)}; four of five such comparisons
          find {points(compare.smallest)}.
        </p>
        {compare.confounded.map((text, i) => (
          <p key={i} role="note">
            <strong>Also:</strong> {visible(text, 300)}: its effect cannot be told from the one asked for.
          </p>
        ))}
        <HostDots hosts={hosts} unit={answer.unit} groups={groups} caption="Each dot is a host" />
        <details class="more" open>
          <summary>Table of the same data</summary>
          <HostTable label={`Hosts of ${visible(answer.service, 60)} by side`} hosts={hosts} unit={answer.unit}
            words={Object.fromEntries(groups)} />
        </details>
      </Section>
      {compare.frames.length > 0 && (
        <Section id="code" title="Code that takes more in B, or less">
          <FrameTable frames={compare.frames} side="A" />
        </Section>
      )}
    </>
  );
}
