// What the flame graph shows, in the address: a link to it shows the same. The address is only
// changed once the reader has chosen something.
export interface Linked {
  time?: string; // profile or waits
  shape?: string;
  width?: string; // whose widths: diff, a, b
  in?: string; // seconds or share
  colours?: string; // cpi: cycles per instruction
  search?: string;
  of?: string; // the function of a sandwich
  zoom?: string; // a node's number and its name: another tree has other nodes
}

const mark = "#flame?";

export function readLink(): Linked {
  if (!location.hash.startsWith(mark)) return {};
  return Object.fromEntries(new URLSearchParams(location.hash.slice(mark.length))) as Linked;
}

let now: Linked | null = null;

// link changes some of the address.
export function link(changed: Linked): void {
  now = { ...(now ?? readLink()), ...changed };
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(now)) if (value) query.set(key, value);
  const text = query.toString();
  try {
    history.replaceState(null, "", text ? mark + text : "#flame");
  } catch {
    return; // where an address cannot be changed there is no link
  }
}

export const zoomText = (node: number, name: string): string => (node > 0 ? `${node}~${name}` : "");

// zoomOf finds the node again; 0 where the tree is another one.
export function zoomOf(text: string | undefined, size: number, name: (node: number) => string): number {
  const at = (text ?? "").indexOf("~");
  const node = Number((text ?? "").slice(0, at));
  if (at < 1 || !Number.isInteger(node) || node < 1 || node >= size) return 0;
  return name(node) === (text ?? "").slice(at + 1) ? node : 0;
}
