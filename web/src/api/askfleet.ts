// Puts a question over many hosts to the server that gave the page, and tells what it says while it
// answers.
import type { Answer, FleetLine, Typed } from "./fleet";

export type Told = (line: FleetLine) => void;

// askFleet returns the answer. An error is the server's line.
export async function askFleet(typed: Typed, signal: AbortSignal, told: Told): Promise<Answer> {
  let response: Response;
  try {
    const headers = { "Content-Type": "application/json" };
    response = await fetch("/api/fleet/ask", { method: "POST", headers, body: JSON.stringify(typed), signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  if (!response.ok || !response.body) throw new Error(await refusal(response));
  for await (const line of linesOf(response.body)) {
    if (line.error) throw new Error(line.error);
    if (line.answer) return line.answer;
    told(line);
  }
  throw new Error("The answer broke off. Was the server stopped?");
}

async function refusal(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return (JSON.parse(text) as { error?: string }).error ?? `The server answered ${response.status}.`;
  } catch {
    return text.slice(0, 200) || `The server answered ${response.status}.`;
  }
}

// Go writes a list of nothing as null.
const lists = new Set([
  "adjusted", "changes", "confounded", "course", "facts", "findings", "frames", "incomplete", "look", "names",
  "nearest", "notes", "rollouts", "self", "together", "total", "with",
]);

function listed(key: string, value: unknown): unknown {
  return value === null && lists.has(key) ? [] : value;
}

// linesOf reads documents that stand on a line each.
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<FleetLine> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) if (line) yield JSON.parse(line, listed) as FleetLine;
    if (done) return;
  }
}
