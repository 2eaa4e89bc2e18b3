import { render } from "preact";
import { loadReport } from "./api/load";
import { served } from "./lib/served";
import { App } from "./views/app";
import { Failure } from "./views/failure";
import { Library } from "./views/library";

const place = document.getElementById("app") as HTMLElement;
try {
  // A page without a case is the library of the server that gave it.
  const holds = document.getElementById("data-case") !== null;
  render(served() && !holds ? <Library /> : <App report={await loadReport()} />, place);
} catch (error) {
  render(<Failure error={error} />, place);
}
