// The form of a question over many hosts: its fields are the flags of `culprit fleet`.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Service, Typed } from "../api/fleet";
import { visible } from "../lib/format";
import { questions } from "../state/question";
import { Choice, Section } from "./parts";

const told: Record<string, string> = {
  bands: "Do the hosts form two bands, who is in which, and what goes with it?",
  compare: "Two groups of hosts, or two times of the same.",
  changes: "When did it get slower or faster, and what was rolled out then?",
  facts: "Which settings, versions and labels go with the metric?",
  top: "What does the time of the whole fleet go to?",
  worth: "What would a proven effect save over the fleet?",
  hosts: "Which hosts there are: cost, load, version, last window.",
};

const withMetric = ["bands", "compare", "facts", "hosts"];

export function FleetForm({ typed, services, onAsk }: {
  typed: Typed; services: Service[]; onAsk: (typed: Typed) => void;
}) {
  const [draft, setDraft] = useState<Typed>(typed.question === "services" ? { ...typed, question: "bands" } : typed);
  const set = (part: Partial<Typed>) => setDraft((now) => ({ ...now, ...part }));
  const { question } = draft;
  const submit = (event: Event) => {
    event.preventDefault();
    onAsk(asked(draft));
  };
  return (
    <Section id="ask" title="Ask the fleet" note={told[question] ?? ""}>
      <Choice label="Question" value={question} options={questions} onChange={(name) => set({ question: name })} />
      <form class="start" onSubmit={submit}>
        <Field label="Service" need value={draft.service} list={plain(services)}
          onChange={(service) => set({ service })} />
        <Field label="Since" value={draft.since} hint={question === "changes" ? "30d" : "24h"}
          onChange={(since) => set({ since })} />
        <Field label="Until (UTC)" value={draft.until} hint="now" onChange={(until) => set({ until })} />
        {withMetric.includes(question) && (
          <Field label="Metric" value={draft.metric} hint="CPU time of a request" list={["cores", "latency"]}
            onChange={(metric) => set({ metric })} />
        )}
        {question !== "changes" && (
          <Field label={question === "compare" ? "Side A: hosts" : "Hosts"} value={draft.a}
            hint="version=1.2,zone!=eu-1a" onChange={(a) => set({ a })} />
        )}
        <Fields draft={draft} set={set} />
        <div class="startend"><button type="submit" class="button strong">Ask</button></div>
      </form>
    </Section>
  );
}

// plain are the names that show as what they are.
function plain(services: Service[]): string[] {
  return services.map((service) => service.service).filter((name) => visible(name, 100) === name);
}

// Fields are those of one question alone.
function Fields({ draft, set }: { draft: Typed; set: (part: Partial<Typed>) => void }) {
  const number = (text: string): number | null => (text.trim() === "" ? null : Number(text.replace(",", ".")));
  const effect = draft.effect ?? { value: null, low: null, high: null };
  const end = (name: "value" | "low" | "high", label: string, hint: string) => (
    <Field label={label} value={effect[name]?.toString()} hint={hint} number
      onChange={(text) => set({ effect: { ...effect, [name]: number(text) } })} />
  );
  switch (draft.question) {
    case "compare":
      return (
        <>
          <Field label="Side B: hosts" value={draft.b} hint="version=1.3" onChange={(b) => set({ b })} />
          <Field label="Or two times: before" value={draft.before} hint="48h..24h"
            onChange={(before) => set({ before })} />
          <Field label="and after" value={draft.after} hint="24h..now" onChange={(after) => set({ after })} />
          <Field label="Baseline, before the difference" value={draft.baseline} hint="FROM..TO"
            onChange={(baseline) => set({ baseline })} />
          <Within draft={draft} set={set} />
        </>
      );
    case "bands":
    case "facts":
      return <Within draft={draft} set={set} />;
    case "changes":
      return (
        <Field label="Least change that matters" value={draft.smallest?.toString()} hint="0.02" number
          onChange={(text) => set({ smallest: number(text) })} />
      );
    case "top":
    case "worth":
      return (
        <>
          <Field label="Price of a core for an hour" value={draft.per_core_hour?.toString()} hint="0.04" number
            onChange={(text) => set({ per_core_hour: number(text) })} />
          <Field label={draft.question === "top" ? "By a setting, not by functions" : "Hosts with a setting"}
            value={draft.setting} hint={draft.question === "top" ? "mm.thp, version, zone" : "mm.thp=always"}
            onChange={(setting) => set({ setting })} />
          {draft.question === "worth" && (
            <>
              <Field label="Function, as Top names it" value={draft.frame} hint="all"
                onChange={(frame) => set({ frame })} />
              {end("value", "Proven change of its time", "-0.2")}
              {end("low", "Lower end", "-0.24")}
              {end("high", "Upper end", "-0.16")}
            </>
          )}
        </>
      );
  }
  return null;
}

function Within({ draft, set }: { draft: Typed; set: (part: Partial<Typed>) => void }) {
  return (
    <Field label="Within labels" value={draft.within?.join(",")} hint="zone"
      onChange={(text) => set({ within: text.split(",").map((label) => label.trim()).filter(Boolean) })} />
  );
}

// asked is what is sent: a field that belongs to another question is left out.
function asked(draft: Typed): Typed {
  const { question, service, since, until } = draft;
  const typed: Typed = { question, service: service.trim() };
  if (since) typed.since = since.trim();
  if (until) typed.until = until.trim();
  if (draft.metric && withMetric.includes(question)) typed.metric = draft.metric.trim();
  if (draft.a && question !== "changes") typed.a = draft.a.trim();
  if (draft.within?.length && ["bands", "compare", "facts"].includes(question)) typed.within = draft.within;
  if (question === "compare") {
    for (const name of ["b", "before", "after", "baseline"] as const) {
      const value = draft[name]?.trim();
      if (value) typed[name] = value;
    }
  }
  if (question === "changes" && draft.smallest) typed.smallest = draft.smallest;
  if ((question === "top" || question === "worth") && draft.per_core_hour) typed.per_core_hour = draft.per_core_hour;
  if ((question === "top" || question === "worth") && draft.setting) typed.setting = draft.setting.trim();
  if (question === "worth") {
    if (draft.frame) typed.frame = draft.frame.trim();
    const { value, low, high } = draft.effect ?? {};
    if (value) typed.effect = { value, low: low ?? value, high: high ?? value };
  }
  return typed;
}

function Field({ label, value, hint, need, number, list, onChange }: {
  label: ComponentChildren; value: string | undefined; hint?: string; need?: boolean; number?: boolean;
  list?: string[]; onChange: (value: string) => void;
}) {
  const id = `list-${String(label).toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return (
    <label class="formfield">
      <span>{label}</span>
      <input class="field" type={number ? "number" : "text"} step="any" value={value ?? ""} placeholder={hint ?? ""}
        required={need ?? false} spellcheck={false} autocomplete="off" list={list?.length ? id : undefined}
        onInput={(event) => onChange(event.currentTarget.value)} />
      {list && list.length > 0 && (
        <datalist id={id}>{list.map((one) => <option key={one} value={one} />)}</datalist>
      )}
    </label>
  );
}
