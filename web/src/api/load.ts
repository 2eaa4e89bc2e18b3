// Reads the data that Go put into the page: gzip and base64 in inert script elements.
import type { Case } from "./case";
import type { ExperimentWords, Result } from "./experiment";
import type { Columns, RequestPage, Verdict } from "./page";
import type { WeighedView } from "./worth";
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

async function unpack(id: string): Promise<string> {
  const element = document.getElementById(`data-${id}`);
  if (!element) throw new Error(`The part "${id}" is missing.`);
  const packed = Uint8Array.from(atob(element.textContent ?? ""), (c) => c.charCodeAt(0));
  element.textContent = ""; // the browser need not keep both
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).text();
}

export async function loadReport(): Promise<Report> {
  const parts = ["case", "words", "profile", "waits", "requests", "document"];
  const [caseText, words, profile, waits, requests, text] = await Promise.all(parts.map(unpack));
  const tree = (text: string | undefined): Tree | null => {
    const columns = JSON.parse(text ?? "null") as Columns | null;
    return columns && columns.name.length > 1 ? new Tree(columns) : null;
  };
  return {
    caseText: caseText ?? "",
    found: JSON.parse(caseText ?? "") as Case,
    words: JSON.parse(words ?? "") as Verdict,
    profile: tree(profile),
    waits: tree(waits),
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
  const [text, words, worth] = await Promise.all(["experiment", "experiment-words", "worth"].map(unpack));
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
