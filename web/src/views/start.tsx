// Forms that start a recording or an investigation, and take in a file.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { investigate, record, tail, upload } from "../api/ask";
import type { Job } from "../api/library";
import { visible } from "../lib/format";
import { Choice, Section, SideMark } from "./parts";

const forms: [string, string][] = [
  ["record", "Record"], ["tail", "Slow requests"], ["investigate", "Investigate"], ["upload", "Put a file in"],
];

export function Start({ onStart }: { onStart: () => void }) {
  const [form, setForm] = useState("record");
  return (
    <Section id="start" title="Start something">
      <Choice label="What" value={form} options={forms} onChange={setForm} />
      {form === "record" && <RecordForm onStart={onStart} />}
      {form === "tail" && <TailForm onStart={onStart} />}
      {form === "investigate" && <InvestigateForm onStart={onStart} />}
      {form === "upload" && <UploadForm onStart={onStart} />}
    </Section>
  );
}

interface FormProps {
  onStart: () => void;
}

// Form sends what its fields hold by name, and tells what came of it.
function Form({ label, children, onStart, send }: FormProps & {
  label: string; children: ComponentChildren; send: (values: FormData) => Promise<Job>;
}) {
  const [told, setTold] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setTold("");
    try {
      await send(new FormData(event.currentTarget as HTMLFormElement));
      onStart();
    } catch (error) {
      setTold(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <form class="start" onSubmit={submit as unknown as (event: Event) => void}>
      {children}
      <div class="startend">
        <button type="submit" class="button strong" disabled={busy}>{busy ? "Sending …" : label}</button>
        {told && <span role="alert" class="small">{visible(told, 500)}</span>}
      </div>
    </form>
  );
}

function Field({ label, name, value, hint, digits, need }: {
  label: ComponentChildren; name: string; value?: string; hint?: string; digits?: boolean; need?: boolean;
}) {
  return (
    <label class="formfield">
      <span>{label}</span>
      <input class="field" name={name} type="text" inputMode={digits ? "decimal" : "text"} defaultValue={value ?? ""}
        placeholder={hint ?? ""} autocomplete="off" spellcheck={false} required={need ?? false} />
    </label>
  );
}

const text = (values: FormData, name: string) => String(values.get(name) ?? "").trim();
const number = (values: FormData, name: string) => Number(text(values, name)) || 0;

const targets: [string, string][] = [
  ["command", "A command"], ["pid", "A process"], ["cgroup", "A cgroup"], ["all", "The whole host"],
];

function RecordForm({ onStart }: FormProps) {
  const [target, setTarget] = useState("command");
  const send = (values: FormData) => record({
    command: text(values, "command"), pid: number(values, "pid"), cgroup: text(values, "cgroup"),
    all: target === "all", seconds: number(values, "seconds"), name: text(values, "name"),
  });
  return (
    <Form label="Record" onStart={onStart} send={send}>
      <Choice label="Of" value={target} options={targets} onChange={setTarget} />
      {target === "command" && <Field label="Command" name="command" hint="gzip -9 -kc /bin/bash" need />}
      {target === "pid" && <Field label="Process id" name="pid" digits need />}
      {target === "cgroup" && <Field label="Cgroup" name="cgroup" hint="/sys/fs/cgroup/…" need />}
      <Field label="Seconds, at most" name="seconds" digits value="10" />
      <Field label="Name" name="name" hint="recording and the time" />
    </Form>
  );
}

const services: [string, string][] = [
  ["port", "Who listens on a port"], ["pid", "A process"], ["cgroup", "A cgroup"], ["unit", "A unit"],
];

function TailForm({ onStart }: FormProps) {
  const [of, setOf] = useState("port");
  const named = (values: FormData) => (of === "port" || of === "unit" ? `${of}:${text(values, of)}` : "");
  const send = (values: FormData) => tail({
    pid: number(values, "pid"), cgroup: text(values, "cgroup"), service: named(values),
    seconds: number(values, "seconds"), over_s: number(values, "over") / 1000, name: text(values, "name"),
  });
  return (
    <Form label="Watch requests" onStart={onStart} send={send}>
      <Choice label="Of" value={of} options={services} onChange={setOf} />
      {of === "port" && <Field label="Port" name="port" digits hint="8080" need />}
      {of === "unit" && <Field label="Unit" name="unit" hint="shop.service" need />}
      {of === "pid" && <Field label="Process id" name="pid" digits need />}
      {of === "cgroup" && <Field label="Cgroup" name="cgroup" hint="/sys/fs/cgroup/…" need />}
      <Field label="Seconds" name="seconds" digits value="60" />
      <Field label="Slow from, in ms" name="over" digits hint="the slowest 1 % of each kind" />
      <Field label="Name" name="name" hint="tail and the time" />
    </Form>
  );
}

const subjects: [string, string][] = [
  ["two", "Two commands"], ["one", "One command"], ["pid", "A process"], ["cgroup", "A cgroup"],
];

function InvestigateForm({ onStart }: FormProps) {
  const [subject, setSubject] = useState("two");
  const send = (values: FormData) => investigate({
    a: text(values, "a"), b: text(values, "b"), pid: number(values, "pid"), cgroup: text(values, "cgroup"),
    budget_s: number(values, "budget"), metric: text(values, "metric"), name: text(values, "name"),
    prove: values.get("prove") ? "auto" : "none",
  });
  return (
    <Form label="Investigate" onStart={onStart} send={send}>
      <Choice label="Of" value={subject} options={subjects} onChange={setSubject} />
      {subject === "two" && <Field label={<><SideMark side="A" /> Baseline</>} name="a" need />}
      {subject === "two" && <Field label={<><SideMark side="B" /> Suspect</>} name="b" need />}
      {subject === "one" && <Field label="Command" name="a" need />}
      {subject === "pid" && <Field label="Process id" name="pid" digits need />}
      {subject === "cgroup" && <Field label="Cgroup" name="cgroup" hint="/sys/fs/cgroup/…" need />}
      <Field label="Budget in seconds" name="budget" digits hint="as long as it takes" />
      <Field label="Metric" name="metric" hint="auto, wall, cpu or NAME=REGEX" />
      <Field label="Name" name="name" hint="case and the time" />
      <label class="check">
        <input type="checkbox" name="prove" /> flip settings of this host for proof, and put them back
      </label>
    </Form>
  );
}

function UploadForm({ onStart }: FormProps) {
  const send = (values: FormData) => {
    const file = values.get("file");
    if (!(file instanceof File) || file.size === 0) throw new Error("Choose a file.");
    return upload(file);
  };
  return (
    <Form label="Put it in" onStart={onStart} send={async (values) => send(values)}>
      <label class="formfield">
        <span>A recording, or a file of perf script, folded stacks, pprof or strace</span>
        <input class="field" name="file" type="file" required />
      </label>
    </Form>
  );
}
