// What the server does and did: each with its progress, and live news of an investigation.
import { useState } from "preact/hooks";
import { stop } from "../api/ask";
import type { Job } from "../api/library";
import { amount, percent, visible } from "../lib/format";
import { active, useNews } from "../lib/live";
import { Narrowing } from "./narrowing";
import { Section } from "./parts";

const shownMax = 5;
const verbs: Record<string, string> = {
  record: "Recording", investigate: "Investigation", compare: "Comparison", upload: "Upload", tail: "Tail",
};

export function Jobs({ jobs, onChange }: { jobs: Job[]; onChange: () => void }) {
  const [all, setAll] = useState(false);
  const shown = all ? jobs : jobs.filter((job, place) => active(job) || place < shownMax);
  const watched = jobs.find((job) => job.kind === "investigate" && job.state === "running");
  return (
    <Section id="jobs" title="Jobs">
      <ul class="jobs">
        {shown.map((job) => <Row key={job.id} job={job} watched={job === watched} onChange={onChange} />)}
      </ul>
      {shown.length < jobs.length && (
        <button type="button" class="link small" onClick={() => setAll(true)}>All {jobs.length} jobs</button>
      )}
    </Section>
  );
}

function Row({ job, watched, onChange }: { job: Job; watched: boolean; onChange: () => void }) {
  const [failure, setFailure] = useState("");
  const end = async () => {
    try {
      await stop(job.id);
      onChange();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const name = verbs[job.kind] ?? visible(job.kind, 20);
  return (
    <li class="job">
      <div class="jobhead">
        <span class={`tag state-${visible(job.state, 20)}`}>{visible(job.state, 20)}</span>
        <span>{name}: <bdi>{visible(job.title, 160)}</bdi></span>
        <span class="grow" />
        {job.href && job.state !== "failed" && <a href={job.href}>Open {name.toLowerCase()}</a>}
        {active(job) && (
          <button type="button" class="button" onClick={() => void end()} aria-label={`Stop ${visible(job.title, 80)}`}>
            Stop
          </button>
        )}
      </div>
      {active(job) && <Progress job={job} />}
      {(job.error || failure) && <p class="small" role="alert">{visible(job.error || failure, 500)}</p>}
      {watched && <Watched job={job} />}
    </li>
  );
}

function Progress({ job }: { job: Job }) {
  const expected = job.expected ?? 0;
  const part = expected > 0 ? Math.min((job.seconds ?? 0) / expected, 0.99) : undefined;
  const stage = job.state === "queued" ? "waits for its turn" : visible(job.progress.stage ?? "", 120);
  return (
    <div class="progress">
      {job.state === "running" && (
        <progress max={1} value={part} aria-label={`Progress of ${visible(job.title, 80)}`} />
      )}
      <span class="small muted">
        {stage}{job.state === "running" && ` · ${amount(job.seconds, "s")}`}
        {job.state === "running" && expected > 0 && ` of about ${amount(expected, "s")}`}
      </span>
    </div>
  );
}

// Watched shows how the interval narrows, and suspects as they come.
function Watched({ job }: { job: Job }) {
  const news = useNews(job);
  const estimates = news.flatMap((one) => (one.estimate ? [one.estimate] : []));
  const looks = estimates.filter((one, place) => one.pairs !== estimates[place + 1]?.pairs);
  const suspects = news.findLast((one) => one.suspects)?.suspects ?? [];
  return (
    <>
      {looks.length > 0 && <Narrowing looks={looks} />}
      {suspects.length > 0 && (
        <ol class="livesuspects">
          {suspects.map((suspect) => (
            <li key={suspect.cause}>
              <code class="cause">{visible(suspect.cause, 60)}</code>{" "}
              <span class={`level level-${visible(suspect.level, 20)}`}>{visible(suspect.level, 20)}</span>{" "}
              <span class="small">{percent(suspect.share)} of the change</span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
