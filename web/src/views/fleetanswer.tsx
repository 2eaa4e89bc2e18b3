// The answer to a question over many hosts: what is missing first, then what was found, the hosts
// to look at with the commands that prove it there, and what the answer could not see.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Answer, Look, Typed } from "../api/fleet";
import { download } from "../lib/download";
import { amount, digits, visible } from "../lib/format";
import { unitName, utc } from "../state/hosts";
import { BandsAnswer } from "./fleetbands";
import { ChangesAnswer } from "./fleetchanges";
import { CompareAnswer } from "./fleetcompare";
import { FactsAnswer } from "./fleetfacts";
import { AskLines } from "./fleetlines";
import { HostsAnswer, ServicesAnswer } from "./fleethosts";
import { TopAnswer, WorthAnswer } from "./fleettop";
import { Section } from "./parts";

export interface AnswerProps {
  answer: Answer;
  typed: Typed;
  onAsk: (typed: Typed) => void;
}

export function FleetFound({ answer, typed, command, seconds, lines, onAsk }: AnswerProps & {
  command: string; seconds: number | null; lines: boolean;
}) {
  const props = { answer, typed, onAsk };
  return (
    <>
      {answer.incomplete.length > 0 && <Incomplete all={answer.incomplete} />}
      {answer.question === "services" && <ServicesAnswer {...props} />}
      {answer.question === "hosts" && <HostsAnswer {...props} />}
      {answer.bands && <BandsAnswer {...props} bands={answer.bands} />}
      {answer.compare && <CompareAnswer {...props} compare={answer.compare} />}
      {answer.changes && <ChangesAnswer {...props} changes={answer.changes} />}
      {answer.facts && <FactsAnswer {...props} facts={answer.facts} />}
      {answer.top && <TopAnswer {...props} top={answer.top} />}
      {answer.worth && <WorthAnswer {...props} worth={answer.worth} />}
      {answer.look.length > 0 && (
        <LookAt all={answer.look}>
          {lines && answer.bands?.two && <AskLines service={answer.service} looks={answer.look} />}
        </LookAt>
      )}
      <Asked answer={answer} command={command} seconds={seconds} />
    </>
  );
}

function Incomplete({ all }: { all: string[] }) {
  return (
    <section class="card incomplete" role="alert" aria-labelledby="incomplete-title">
      <h2 id="incomplete-title">Incomplete: not all windows could be read</h2>
      <ul>{all.map((text, i) => <li key={i}>{visible(text, 500)}</li>)}</ul>
      <p class="small muted">What follows is an answer over the others alone.</p>
    </section>
  );
}

function LookAt({ all, children }: { all: Look[]; children: ComponentChildren }) {
  return (
    <Section id="look" title="Look at" note="Where to prove it: what to run on each host, and what compares them.">
      <ul class="looks">
        {all.map((look, i) => (
          <li key={i}>
            <p><strong><bdi>{visible(look.host, 120)}</bdi></strong>: {visible(look.why, 300)}</p>
            {look.commands.map((text, k) => <Command key={k} text={text} />)}
          </li>
        ))}
      </ul>
      {children}
    </Section>
  );
}

// Command is one line to be copied: the whole of it, however it is shown.
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied("copied");
    } catch {
      setCopied("select it by hand: this browser does not copy here");
    }
  };
  return (
    <div class="command">
      <code tabIndex={0} role="group" aria-label="Command">{visible(text, 4000)}</code>
      <button type="button" class="link small noprint" onClick={() => void copy()}>Copy</button>
      {copied && <span class="small muted" role="status">{copied}</span>}
    </div>
  );
}

function Asked({ answer, command, seconds }: { answer: Answer; command: string; seconds: number | null }) {
  const save = () =>
    download(`fleet-${answer.question}.json`, "application/json", JSON.stringify(answer, null, 1) + "\n");
  const about = answer.question === "services" ? "All services of the store"
    : `${answer.unit ? `${visible(unitName(answer.unit), 100)} of ` : ""}${visible(answer.service, 100)} over ` +
      `${plural(answer.hosts, "host")}, ${utc(answer.from)} to ${utc(answer.until)} UTC, ` +
      `${plural(answer.windows, "window")}`;
  return (
    <Section id="asked" title="What was asked">
      <p>{about}{seconds ? `, answered in ${amount(seconds, "s")}` : ""}.</p>
      {command && <Command text={command} />}
      {answer.notes.length > 0 && (
        <div class="notes">
          <h3>What goes with this answer</h3>
          <ul>{answer.notes.map((note, i) => <li key={i}>{visible(note, 1000)}</li>)}</ul>
        </div>
      )}
      <p class="noprint"><button type="button" class="button" onClick={save}>Download JSON</button></p>
    </Section>
  );
}

export function plural(count: number, noun: string): string {
  return `${digits(count)} ${noun}${count === 1 ? "" : "s"}`;
}
