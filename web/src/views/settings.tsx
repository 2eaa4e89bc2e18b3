// Settings: those that differ between the sides, and every fact that was read.
import { useState } from "preact/hooks";
import type { Case, Difference } from "../api/case";
import { pattern, visible } from "../lib/format";
import { Section, SideMark } from "./parts";
import { onPaper, Printed } from "./sorttable";

export function Settings({ found }: { found: Case }) {
  return (
    <Section id="settings" title="What differs">
      {found.differs && found.differs.length > 0 && <Differing list={found.differs} />}
      {found.b && (found.settings.length === 0 ? <p class="muted">No setting that was read differs.</p> : (
        <>
          <h3>Settings that differ</h3>
          <div class="tablescroll" tabIndex={0} role="region" aria-label="Settings that differ">
            <table>
              <thead>
                <tr>
                  <th scope="col">Setting</th><th scope="col"><SideMark side="A" /></th>
                  <th scope="col"><SideMark side="B" /></th><th scope="col">Read from</th>
                </tr>
              </thead>
              <tbody>
                {found.settings.map((setting, i) => (
                  <tr key={i}>
                    <td>{visible(setting.name, 100)}</td><td><code>{visible(setting.a, 200)}</code></td>
                    <td><code>{visible(setting.b, 200)}</code></td>
                    <td class="muted small">{visible(setting.source, 200)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      ))}
      <Facts found={found} />
    </Section>
  );
}

// Differing lists all that the sides are not the same in, what grown stacks go through first.
function Differing({ list }: { list: Difference[] }) {
  return (
    <div class="tablescroll" tabIndex={0} role="region" aria-label="All that differs">
      <table class="differs">
        <thead>
          <tr>
            <th scope="col">Kind</th><th scope="col">Name</th><th scope="col"><SideMark side="A" /></th>
            <th scope="col"><SideMark side="B" /></th><th scope="col">Grown stacks</th><th scope="col">Where</th>
          </tr>
        </thead>
        <tbody>
          {list.map((one, i) => (
            <tr key={i}>
              <td>{visible(one.of ?? one.kind, 40)}</td><td>{visible(one.name, 100)}</td>
              <td><code>{visible(one.a, 200)}</code></td><td><code>{visible(one.b, 200)}</code></td>
              <td>{one.follows ? `only leads to ${visible(one.follows, 60)}` : one.grown ? "go through it" : ""}</td>
              <td class="muted small">{visible(one.place_b || one.place_a || "", 200)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const factsMax = 300;

function Facts({ found }: { found: Case }) {
  const [search, setSearch] = useState("");
  const regex = pattern(search);
  const rows = found.facts.filter((fact) => !regex || regex.test(`${fact.name} ${fact.value} ${fact.source}`));
  if (found.facts.length === 0) return <p class="muted">No fact was read.</p>;
  return (
    <details class="more">
      <summary>All {found.facts.length} facts that were read</summary>
      <div class="toolbar">
        <input type="search" class="field" placeholder="filter facts" aria-label="Filter the facts" value={search}
          onInput={(event) => setSearch(event.currentTarget.value)} />
        <span class="muted small" role="status">
          {rows.length} shown{rows.length > factsMax ? `, the first ${factsMax} of them` : ""}
        </span>
      </div>
      <div class="tablescroll" tabIndex={0} role="region" aria-label="Facts">
        <table>
          <thead><tr><th scope="col">Fact</th><th scope="col">Value</th><th scope="col">Read from</th></tr></thead>
          <tbody>
            {rows.slice(0, factsMax).map((fact, i) => (
              <tr key={i} class={i < onPaper ? "" : "screenonly"}>
                <td>{visible(fact.name, 100)}</td><td><code>{visible(fact.value, 400)}</code></td>
                <td class="muted small">{visible(fact.source, 200)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Printed rows={onPaper} of={rows.length} />
    </details>
  );
}
