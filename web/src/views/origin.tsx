// The foot of a page: where and from what its numbers come.
import { digits, known, visible } from "../lib/format";
import { served } from "../lib/served";

export function Origin({ host, schema, seed, seconds }: {
  host: string;
  schema: string;
  seed: string;
  seconds: number | null;
}) {
  return (
    <footer class="muted small">
      {host && <p>{host}</p>}
      <p>
        culprit, {visible(schema, 40)}, seed {seed}
        {known(seconds) && `, ${digits(seconds)} s in all`}.
        {!served() && " This file asks for nothing over the network."}
      </p>
    </footer>
  );
}
