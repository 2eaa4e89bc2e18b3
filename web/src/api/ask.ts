// Asks the server that gave the page. An error is its one line.
import type { LinesRequest } from "./fleet";
import type { Comparison, InvestigationRequest, Job, RecordingRequest, TailRequest } from "./library";

async function answerOf<T>(asked: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await asked;
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  const text = await response.text();
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error(text.slice(0, 200) || `The server answered ${response.status}.`);
  }
  if (!response.ok) throw new Error((answer as { error?: string }).error ?? `The server answered ${response.status}.`);
  return answer as T;
}

export function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answerOf<T>(fetch(path, { signal: signal ?? null }));
}

function send<T>(path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return answerOf<T>(fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

export const compare = (asked: Partial<Comparison>) => send<Job>("/api/compare", asked);
export const record = (asked: Partial<RecordingRequest>) => send<Job>("/api/record", asked);
export const investigate = (asked: Partial<InvestigationRequest>) => send<Job>("/api/investigate", asked);
export const tail = (asked: Partial<TailRequest>) => send<Job>("/api/tail", asked);
export const askForLines = (asked: LinesRequest) => send<LinesRequest>("/api/fleet/lines", asked);
export const stop = (id: string) => send<Job>(`/api/jobs/${id}/stop`, {});

export function upload(file: File): Promise<Job> {
  const headers = { "Content-Type": "application/octet-stream" };
  const path = `/api/upload?name=${encodeURIComponent(file.name)}`;
  return answerOf<Job>(fetch(path, { method: "POST", headers, body: file }));
}

export async function leave(): Promise<void> {
  await fetch("/logout", { method: "POST" });
  location.reload();
}

// pathOf is the address of a name that may hold anything.
export function pathOf(begin: string, name: string): string {
  return begin + name.split("/").map(encodeURIComponent).join("/");
}
