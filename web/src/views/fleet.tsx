// Many hosts: puts questions to the windows of a hub or a store, shows what comes, and says what is
// missing.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, leave } from "../api/ask";
import { askFleet } from "../api/askfleet";
import type { Answer, FleetAnswer, FleetLine, Service, Typed } from "../api/fleet";
import { amount, visible } from "../lib/format";
import { useTheme } from "../lib/hooks";
import { fromLink, services as anyService, toLink } from "../state/question";
import { FleetFound } from "./fleetanswer";
import { FleetForm } from "./fleetform";

interface Run {
  typed: Typed;
  line: FleetLine; // the latest
  command: string;
  running: boolean;
  answer: Answer | null;
  failure: string;
}

const begun = (typed: Typed): Run =>
  ({ typed, line: { at: 0 }, command: "", running: true, answer: null, failure: "" });

export function Fleet() {
  const [run, setRun] = useState(() => begun(fromLink(location.search)));
  const [services, setServices] = useState<Service[]>([]);
  const [about, setAbout] = useState<FleetAnswer | null>(null);
  const stop = useRef<AbortController>(new AbortController());
  const put = async (typed: Typed) => {
    stop.current.abort();
    const control = new AbortController();
    stop.current = control;
    const change = (part: Partial<Run>) => stop.current === control && setRun((now) => ({ ...now, ...part }));
    setRun(begun(typed));
    try {
      const answer = await askFleet(typed, control.signal, (line) =>
        change(line.command ? { line, command: line.command } : { line }));
      change({ answer, running: false });
      if (answer.services) setServices(answer.services);
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      change({ running: false, failure: control.signal.aborted ? "Stopped." : failure });
    }
  };
  const go = (typed: Typed) => {
    history.pushState(null, "", toLink(typed));
    void put(typed);
  };
  useEffect(() => {
    ask<FleetAnswer>("/api/fleet").then(setAbout, () => undefined);
  }, []);
  useEffect(() => {
    const follow = () => void put(fromLink(location.search));
    follow();
    addEventListener("popstate", follow);
    return () => {
      removeEventListener("popstate", follow);
      stop.current.abort();
    };
  }, []);
  useEffect(() => {
    const { question, service } = run.typed;
    document.title = `culprit: ${service ? `${visible(question, 20)} of ${visible(service, 60)}` : "fleet"}`;
  }, [run.typed]);
  return (
    <>
      <Top about={about} />
      <main class="page fleet">
        <FleetForm key={toLink(run.typed)} typed={run.typed} services={services} onAsk={go} />
        {run.running && <Progress run={run} onStop={() => stop.current.abort()} />}
        {run.failure && (
          <section class="card" role="alert">
            <h2>{run.failure === "Stopped." ? "Stopped" : "No answer"}</h2>
            <p>{visible(run.failure, 1000)}</p>
            {run.command && <p class="small muted">The same in a shell: <code>{visible(run.command, 2000)}</code></p>}
          </section>
        )}
        {run.answer && <FleetFound answer={run.answer} command={run.command} seconds={run.line.at} onAsk={go}
          typed={run.typed} lines={about?.lines ?? false} />}
      </main>
    </>
  );
}

function Top({ about }: { about: FleetAnswer | null }) {
  const [theme, setTheme] = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <header class="top">
      <h1 class="brand">culprit</h1>
      <span class="where muted small" title="Whose windows are asked">
        <bdi>{visible(about?.fleet ?? "", 200)}</bdi>
      </span>
      <span class="grow" />
      <a class="button" href="/">Library</a>
      {toLink(fromLink(location.search)) !== toLink(anyService) && <a class="button" href="/fleet">Services</a>}
      {about?.token && <button type="button" class="button" onClick={() => void leave()}>Log out</button>}
      <button type="button" class="button" onClick={() => setTheme(other)} aria-label={`Switch to ${other} colours`}>
        {theme === "dark" ? "Light" : "Dark"}
      </button>
    </header>
  );
}

// Progress counts the seconds itself between what the server says.
function Progress({ run, onStop }: { run: Run; onStop: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = Date.now();
    const timer = setInterval(() => setSeconds((Date.now() - began) / 1000), 500);
    return () => clearInterval(timer);
  }, [run.typed]);
  const stage = visible(run.line.stage ?? "asking", 200);
  return (
    <section class="card" aria-label="Progress">
      <div class="progress">
        <progress aria-label={`The question is being answered: ${stage}`} />
        <span class="small"><span role="status">{stage}</span> · {amount(Math.round(seconds), "s")}</span>
        <button type="button" class="button" onClick={onStop}>Stop</button>
      </div>
    </section>
  );
}
