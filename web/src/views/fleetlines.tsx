// Asks the agents of a host of each band for a recording with cache lines, where no command has to
// be run by hand.
import { useState } from "preact/hooks";
import { askForLines } from "../api/ask";
import type { Look } from "../api/fleet";
import { visible } from "../lib/format";

const why = "For when no setting or version explains the bands. They record for 60 s with their next window; " +
  "what comes is in the hub within minutes.";

export function AskLines({ service, looks }: { service: string; looks: Look[] }) {
  const [state, setState] = useState<"" | "asking" | "asked">("");
  const [failure, setFailure] = useState("");
  const hosts = looks.map((look) => look.host);
  const names = hosts.map((host) => visible(host, 60)).join(" and ");
  const put = async () => {
    setState("asking");
    setFailure("");
    try {
      await askForLines({ service, hosts });
      setState("asked");
    } catch (error) {
      setState("");
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="asklines noprint">
      <button type="button" class="button" disabled={state !== ""} onClick={() => void put()}>
        Ask their agents for cache lines
      </button>
      <p class="small muted" role="status">
        {state === "asked" ? `Asked the agents of ${names}. What they record is in the hub within minutes.` : why}
      </p>
      {failure && <p class="small" role="alert">{visible(failure, 500)}</p>}
    </div>
  );
}
