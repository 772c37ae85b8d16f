import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Number of comparisons, and the differences between our `assert` and Node's. */
export interface Comparison {
  readonly cases: number;
  readonly failed: number;
  /** First differences. */
  readonly found: readonly string[];
}

export async function compareAsserts(seed: number, pairs: number, errors: number): Promise<Comparison> {
  const program = fileURLToPath(new URL("assert-cases.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, `${seed}`, `${pairs}`, `${errors}`]);
  return JSON.parse(stdout) as Comparison;
}
