import { render } from "preact";
import { loadExperiment, loadReport } from "./api/load";
import { preparePaper } from "./lib/paper";
import { served } from "./lib/served";
import { App } from "./views/app";
import { ExperimentPage } from "./views/experiment";
import { Failure } from "./views/failure";
import { Fleet } from "./views/fleet";
import { Library } from "./views/library";

const place = document.getElementById("app") as HTMLElement;
preparePaper();
try {
  // A page without a case is the library of the server that gave it.
  const holds = (part: string) => document.getElementById(`data-${part}`) !== null;
  if (holds("experiment")) render(<ExperimentPage experiment={await loadExperiment()} />, place);
  else if (served() && !holds("case")) render(location.pathname === "/fleet" ? <Fleet /> : <Library />, place);
  else render(<App report={await loadReport()} />, place);
} catch (error) {
  render(<Failure error={error} />, place);
}
