// What the server knows, kept up to date while somebody looks.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/ask";
import type { Job, JobsAnswer, LibraryAnswer, News } from "../api/library";

const soon = 1_000;
const seldom = 10_000;

export const active = (job: Job) => job.state === "queued" || job.state === "running";

export interface Live {
  library: LibraryAnswer | null;
  jobs: Job[];
  failure: string;
  look: () => void; // now, for instance after something was started
}

// useServer asks for jobs often while one runs, and for the library when one has ended.
export function useServer(): Live {
  const [library, setLibrary] = useState<LibraryAnswer | null>(null);
  const [jobs, setJobs] = useState<Job[]>([]);
  const [failure, setFailure] = useState("");
  const timer = useRef(0);
  const running = useRef("");
  const look = useCallback(async (again: boolean) => {
    clearTimeout(timer.current);
    let next = seldom;
    try {
      const { jobs: now } = await ask<JobsAnswer>("/api/jobs");
      const ids = now.filter(active).map((job) => job.id).join();
      setJobs(now);
      if (again || ids !== running.current || ids === "") setLibrary(await ask<LibraryAnswer>("/api/library"));
      running.current = ids;
      if (ids) next = soon;
      setFailure("");
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void look(false), document.hidden ? seldom : next);
  }, []);
  useEffect(() => {
    void look(true);
    const seen = () => document.hidden || void look(true);
    document.addEventListener("visibilitychange", seen);
    return () => {
      clearTimeout(timer.current);
      document.removeEventListener("visibilitychange", seen);
    };
  }, []);
  return { library, jobs, failure, look: () => void look(true) };
}

// useNews follows one job by the server's events.
export function useNews(job: Job): News[] {
  const [news, setNews] = useState<News[]>([]);
  useEffect(() => {
    const source = new EventSource(`/api/jobs/${job.id}/events`);
    source.addEventListener("news", (event) => {
      const one = JSON.parse((event as MessageEvent<string>).data) as News;
      setNews((before) => [...before.slice(-499), one]);
    });
    source.addEventListener("end", () => source.close());
    return () => source.close();
  }, [job.id]);
  return news;
}
