import { render } from "preact";
import { loadReport } from "./api/load";
import { App } from "./views/app";
import { Failure } from "./views/failure";

const place = document.getElementById("app") as HTMLElement;
try {
  render(<App report={await loadReport()} />, place);
} catch (error) {
  render(<Failure error={error} />, place);
}
