// Small parts that several views share.
import type { ComponentChildren } from "preact";

export function Section({ id, title, note, children }: {
  id: string; title: string; note?: string; children: ComponentChildren;
}) {
  return (
    <section class="card" id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {note && <p class="muted note">{note}</p>}
      {children}
    </section>
  );
}

// SideMark is the letter of a side, in its colour and shape wherever it stands.
export function SideMark({ side }: { side: "A" | "B" }) {
  return <span class={`side side${side}`}>{side}</span>;
}

export function Choice({ label, value, options, onChange }: {
  label: string; value: string; options: [string, string][]; onChange: (value: string) => void;
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      <span class="choicelabel" aria-hidden="true">{label}</span>
      {options.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>
          {text}
        </button>
      ))}
    </div>
  );
}

export function Notes({ title, notes, empty }: { title: string; notes: string[]; empty: string }) {
  return (
    <div class="notes">
      <h3>{title}</h3>
      {notes.length === 0 ? <p class="muted">{empty}</p> : <ul>{notes.map((note, i) => <li key={i}>{note}</li>)}</ul>}
    </div>
  );
}
