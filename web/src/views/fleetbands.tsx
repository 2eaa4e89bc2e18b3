// Bands of a service: a dot for each host, who is in which band, and what separates them.
import type { BandsFound } from "../api/fleet";
import { digits, percent, visible } from "../lib/format";
import { valueText } from "../state/hosts";
import { plural, type AnswerProps } from "./fleetanswer";
import { FactTable, FrameTable } from "./fleetfacts";
import { HostDots, HostTable } from "./hostdots";
import { Section } from "./parts";

const groups: [string, string][] = [
  ["cheap", "cheap band"], ["dear", "dear band"], ["between", "between them"], ["apart", "apart, too few for a band"],
];
const one: [string, string][] = [["", "one band"], ["apart", "apart, too few for a band"]];

const luck = "Nothing that was recorded separates the bands: luck of memory layout is left, look at cache lines.";

export function BandsAnswer({ answer, bands }: AnswerProps & { bands: BandsFound }) {
  const { unit } = answer;
  const hosts = answer.each ?? [];
  const head = bands.two
    ? `Two bands, ${digits(bands.ratio)}× apart: ${valueText(bands.low.value, unit)} on ${percent(bands.low.share)} ` +
      `of the hosts, ${valueText(bands.high.value, unit)} on ${percent(bands.high.share)}`
    : `One band: ${visible(bands.why, 200)}`;
  const chance = (bands.p ?? 1) < 0.001 ? "fewer than 1 in 1,000" : percent(bands.p);
  return (
    <>
      <Section id="bands" title={head}>
        {bands.two ? (
          <p class="detail">
            Hosts of a band scatter by {percent(bands.spread)}, so the bands are {digits(bands.separation)}× of
            that apart; one band fits as well in {chance} of fleets drawn from it.
          </p>
        ) : (
          <p class="detail">
            A band of 12 % of the hosts that is {digits(bands.findable)}× as dear would be found in 95 of 100
            such fleets.
          </p>
        )}
        {(bands.load_taken ?? 0) > 0.01 && (
          <p>The load explains {percent(bands.load_taken)} of the variance between hosts, and was taken out before.</p>
        )}
        {bands.lasts && <p>{lasts(bands.lasts)}</p>}
        <HostDots hosts={hosts} unit={unit} groups={bands.two ? groups : one} caption="Each dot is a host"
          lines={bands.two && bands.low.value && bands.high.value
            ? [["dear band", bands.high.value], ["cheap band", bands.low.value]] : []} />
        <details class="more" open>
          <summary>Table of the same data</summary>
          <HostTable label={`Hosts of ${visible(answer.service, 60)} by band`} hosts={hosts} unit={unit}
            words={Object.fromEntries(groups)} />
        </details>
      </Section>
      {bands.facts && (
        <Section id="separates" title={bands.facts.findings.length > 0
          ? (bands.two ? "What separates the bands" : "What goes with the value")
          : "No fact separates them"}
          note={bands.two && !bands.separated ? luck : ""}>
          <FactTable facts={bands.facts} />
        </Section>
      )}
      {bands.frames.length > 0 && (
        <Section id="code" title="Code that takes more in the dear band">
          <FrameTable frames={bands.frames} side="the cheap band" />
        </Section>
      )}
    </>
  );
}

function lasts({ hours, same, restarted, moved }: NonNullable<BandsFound["lasts"]>): string {
  const text = `In ${percent(same)} of ${digits(hours)} hours a host was on the side of its band; `;
  if (restarted === 0) return `${text}no process was restarted in this time.`;
  if (moved === 0) return `${text}all of ${plural(restarted, "host")} stayed in it after a restart.`;
  return `${text}${moved} of ${plural(restarted, "host")} were in the other one after a restart: it lasts for the ` +
    "life of a process.";
}
