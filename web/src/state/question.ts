// A question over many hosts, and the address of the page that asks it: both hold what the flags of
// `culprit fleet` are called.
import type { Typed } from "../api/fleet";

export const services: Typed = { question: "services", service: "" };

export const questions: [string, string][] = [
  ["bands", "Bands"], ["compare", "Compare"], ["changes", "Changes"], ["facts", "Facts"], ["top", "Top"],
  ["worth", "Worth"], ["hosts", "Hosts"],
];

const texts = [
  "question", "service", "since", "until", "metric", "a", "b", "before", "after", "baseline", "frame", "setting",
] as const;
const numbers = ["per_core_hour", "smallest", "most"] as const;

// fromLink reads a question; an address without one asks for the services.
export function fromLink(search: string): Typed {
  const given = new URLSearchParams(search);
  if (!given.get("question")) return services;
  const typed: Typed = { question: "", service: "" };
  for (const name of texts) {
    const value = given.get(name);
    if (value) typed[name] = value;
  }
  for (const name of numbers) {
    const value = Number(given.get(name));
    if (value) typed[name] = value;
  }
  const within = given.get("within");
  if (within) typed.within = within.split(",");
  const effect = Number(given.get("effect"));
  const end = (name: string) => Number(given.get(name) ?? effect);
  if (effect) typed.effect = { value: effect, low: end("effect_low"), high: end("effect_high") };
  return typed;
}

export function toLink(typed: Typed): string {
  if (typed.question === services.question) return "/fleet";
  const given = new URLSearchParams();
  for (const name of [...texts, ...numbers]) {
    const value = typed[name];
    if (value) given.set(name, String(value));
  }
  if (typed.within?.length) given.set("within", typed.within.join(","));
  if (typed.effect) {
    const { value, low, high } = typed.effect;
    for (const [name, part] of [["effect", value], ["effect_low", low], ["effect_high", high]] as const) {
      given.set(name, String(part));
    }
  }
  return `/fleet?${given}`;
}
