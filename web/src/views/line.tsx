// A shared cache line: its 64 bytes, the words in it, who writes and who reads them, where padding
// belongs.
import type { Block, Price, SharedLine, User, Word } from "../api/case";
import { digits, known, percent, visible } from "../lib/format";

const bytes = 64;

export function LineDrawing({ line }: { line: SharedLine }) {
  const owners = [...new Set(line.words.map(owner).filter((name) => name !== ""))];
  return (
    <figure class="cacheline">
      <figcaption>The line: {bytes} bytes, in the run that was sampled most there</figcaption>
      <div class="linebytes" aria-hidden="true">
        {line.words.map((word, i) => (
          <span key={i} class={`lineword owner${colour(owners, word)}`} title={`+${word.offset}`}
            style={{ left: `${(word.offset / bytes) * 100}%`, width: `${(width(word) / bytes) * 100}%` }} />
        ))}
      </div>
      <div class="tablescroll" tabIndex={0} role="region" aria-label="Words of the cache line">
        <table class="linewords">
          <thead>
            <tr>
              <th scope="col" class="number">Byte</th><th scope="col">Word</th><th scope="col">Who</th>
              <th scope="col" class="number">Samples that write</th><th scope="col" class="number">that read</th>
              <th scope="col" class="number">Hits of debug registers</th>
            </tr>
          </thead>
          <tbody>{line.words.map((word, i) => <WordRows key={i} word={word} colour={colour(owners, word)} />)}</tbody>
        </table>
      </div>
      {line.words.map((word, i) => word.block && <p key={i}><BlockText word={word} block={word.block} /></p>)}
      {line.separate.map(({ language, how }, i) => (
        <p key={i}><strong>{visible(language, 20)}</strong>: {visible(how, 1000)}</p>
      ))}
    </figure>
  );
}

// BlockText says which heap block a word lies in, and who asked for it.
function BlockText({ word, block }: { word: Word; block: Block }) {
  const file = (block.file ?? "").split("/").pop();
  return (
    <>
      +{word.offset}: byte {block.offset} of a heap block of {block.size} bytes
      {block.by && <>, allocated by <code><bdi>{visible(block.by, 200)}</bdi></code></>}
      {file && ` (${visible(file, 60)}:${block.line ?? 0})`}
    </>
  );
}

// width is how much of the line a word takes: one that goes on in the next line ends here.
function width(word: Word): number {
  return Math.max(1, Math.min(word.size, bytes - word.offset));
}

// owner is who writes a word most; of one that is only read nobody.
function owner(word: Word): string {
  let found = "", most = 0;
  for (const user of word.users) {
    if (known(user.writes) && user.writes > most) [found, most] = [user.name, user.writes];
  }
  return found;
}

// colour is a number for each owner, 0 for nobody.
function colour(owners: string[], word: Word): number {
  const at = owners.indexOf(owner(word));
  return at < 0 ? 0 : 1 + (at % 4);
}

function WordRows({ word, colour }: { word: Word; colour: number }) {
  const name = word.name ? <code><bdi>{visible(word.name, 200)}</bdi></code> : <span class="muted">no name</span>;
  return (
    <>
      {word.apart && <tr class="linegap"><td colSpan={6}>padding belongs here</td></tr>}
      {word.users.map((user, i) => (
        <tr key={i}>
          <td class="number">{i === 0 ? `+${word.offset}` : ""}</td>
          <td>{i === 0 && <><span class={`linemark owner${colour}`} aria-hidden="true" /> {name}{" "}
            <span class="muted">{word.size} bytes</span></>}</td>
          <UserCells user={user} />
        </tr>
      ))}
      {word.more ? <tr><td /><td /><td colSpan={4} class="muted">and {word.more} more</td></tr> : null}
    </>
  );
}

function UserCells({ user }: { user: User }) {
  return (
    <>
      <td class={user.name.length <= 20 ? "short" : ""}>{visible(user.name, 60)}</td>
      <td class="number">{count(user.writes)}</td>
      <td class="number">{count(user.reads)}</td>
      <td class="number">{count(user.hits)}</td>
    </>
  );
}

function count(value: User["hits"]): string {
  return known(value) && value > 0 ? digits(value) : "–";
}

// PriceText says what threads gain where no line moves.
export function PriceText({ price: { verdict, gain } }: { price: Price }) {
  const times = (value: User["hits"]) => (known(value) ? `${value.toFixed(2)}×` : "unknown");
  return (
    <>
      <strong>{visible(verdict, 20)}</strong>: held on one CPU, where no line moves, the threads do{" "}
      {times(gain.ratio)} the work in the same CPU time ({percent(gain.confidence)} between {times(gain.low)} and{" "}
      {times(gain.high)}), which is about what they would gain by sharing none
    </>
  );
}
