/** Report of the last run of `npm test`, or of one of its suites. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const REPORT = fileURLToPath(new URL("../node_modules/.cache/mrlm/jest.json", import.meta.url));

/** The parts of jest's report that are read. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Returns the status of each test by its title: `passed`, `failed`, `pending` for a skipped one. */
export function testStatuses(): ReadonlyMap<string, string> {
  const report = JSON.parse(readFileSync(REPORT, "utf8")) as Report;
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  return new Map(results.map(({ title, status }) => [title, status]));
}
