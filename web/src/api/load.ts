// Reads the data that Go put into the page: gzip and base64 in inert script elements.
import type { Case } from "./case";
import type { ExperimentWords, Result } from "./experiment";
import type { RequestPage, Verdict } from "./page";
import type { WeighedView } from "./worth";
import { readColumns } from "../state/columns";
import { Tree } from "../state/tree";

export interface Report {
  caseText: string; // the exact document, without the profiles
  found: Case;
  words: Verdict;
  profile: Tree | null;
  waits: Tree | null;
  requests: RequestPage | null;
  documentText: string; // what the download gives where that is not the case
}

async function unpack(id: string): Promise<ArrayBuffer> {
  const element = document.getElementById(`data-${id}`);
  if (!element) throw new Error(`The part "${id}" is missing.`);
  const packed = fromBase64(element.textContent ?? "");
  element.textContent = ""; // the browser need not keep both
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).arrayBuffer();
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const made = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (made.fromBase64) return made.fromBase64(text); // browsers before 2025 have it not
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function unpackText(id: string): Promise<string> {
  return new TextDecoder().decode(await unpack(id));
}

async function unpackTree(id: string): Promise<Tree | null> {
  const columns = readColumns(await unpack(id));
  return columns && columns.name.length > 1 ? new Tree(columns) : null;
}

export async function loadReport(): Promise<Report> {
  const [profile, waits] = await Promise.all(["profile", "waits"].map(unpackTree));
  const texts = ["case", "words", "requests", "document"].map(unpackText);
  const [caseText, words, requests, text] = await Promise.all(texts);
  return {
    caseText: caseText ?? "",
    found: JSON.parse(caseText ?? "") as Case,
    words: JSON.parse(words ?? "") as Verdict,
    profile: profile ?? null,
    waits: waits ?? null,
    requests: JSON.parse(requests ?? "null") as RequestPage | null,
    documentText: text?.trim() === "null" ? "" : (text ?? ""),
  };
}

export interface Experiment {
  text: string; // the exact document
  found: Result;
  words: ExperimentWords;
  worth: WeighedView[];
}

export async function loadExperiment(): Promise<Experiment> {
  const [text, words, worth] = await Promise.all(["experiment", "experiment-words", "worth"].map(unpackText));
  return {
    text: text ?? "", found: JSON.parse(text ?? "") as Result, words: JSON.parse(words ?? "") as ExperimentWords,
    worth: JSON.parse(worth ?? "") as WeighedView[],
  };
}

// caseDocument joins the profiles to the document again, for the download.
export function caseDocument(report: Report): string {
  const end = report.caseText.lastIndexOf("}");
  let text = report.caseText.slice(0, end).trimEnd();
  for (const [name, tree] of [["profile", report.profile], ["waits", report.waits]] as const) {
    if (tree) text += `,\n"${name}":${JSON.stringify({ nodes: tree.nodes() })}`;
  }
  return text + "\n}\n";
}
