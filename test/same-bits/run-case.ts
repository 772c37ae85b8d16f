import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Finished, Mrlm, nodeIn } from "../e2e/support/mrlm.ts";
import { gone, killAll, processTree } from "../e2e/support/process-tree.ts";
import type { Case, CaseConfig } from "./cases.ts";
import { compareFingerprints } from "./compare.ts";
import { describeDifferences } from "./describe.ts";
import { type Fingerprint, fingerprintOf } from "./fingerprint.ts";

/** Result of a case in one tree. */
export interface Outcome {
  /** Run directory, with the tensors. */
  readonly run: string;
  readonly fingerprint: Fingerprint;
}

/** Error for a case that a tree does not have. */
export class NotThere extends Error {}

/** A run that takes longer is killed: the longest takes about ten seconds on an idle machine. */
const LIMIT_MS = 600_000;
/** Exit code for a configuration that is refused before work begins. */
const REFUSED = 2;
const CASES = new URL("cases.ts", import.meta.url).href;

/**
 * Trains in a tree by real processes and reads the fingerprint of the run.
 * @param output folder for the configuration and the run; emptied first
 * @throws NotThere where the tree refuses a configuration that is not its own
 */
export async function runCase(
  testCase: Case,
  { config, directory, isOwn }: CaseConfig,
  tree: string,
  output: string,
): Promise<Outcome> {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  if (testCase.path.endsWith(".ts"))
    return read(await runTypeScript(join(directory, "train.ts"), tree, join(output, "runs")));
  const file = join(output, "config.yaml");
  writeFileSync(file, JSON.stringify({ ...config, base_directory: directory }, undefined, 2)); // JSON is YAML
  const undisturbed = await finish(train(tree, ["--config", file, "--output", join(output, "runs")]), isOwn);
  if (testCase.killAtStep === undefined) return read(undisturbed);
  return await killAndResume(testCase.killAtStep, read(undisturbed), tree, file, join(output, "killed"));
}

/** Kills a second run at the end of a step, resumes it and returns its outcome. @throws where it differs from the undisturbed one */
async function killAndResume(
  step: number,
  undisturbed: Outcome,
  tree: string,
  config: string,
  output: string,
): Promise<Outcome> {
  const mrlm = train(tree, ["--config", config, "--output", output]);
  await mrlm.event((event) => event.event === "iteration" && event["step"] === step);
  const processes = processTree(mrlm.child.pid as number);
  killAll(processes);
  await mrlm.finished;
  await gone(processes);
  const [name] = readdirSync(output) as [string];
  const resumed = read(await finish(train(tree, ["--resume", join(output, name)])));
  const differences = compareFingerprints(undisturbed.fingerprint, resumed.fingerprint);
  if (differences.length > 0)
    throw new Error(
      `the resumed run differs from the undisturbed one ("base"): ${describeDifferences(differences, undisturbed.run, resumed.run)}`,
    );
  return resumed;
}

function train(tree: string, args: readonly string[]): Mrlm {
  return new Mrlm(["train", "--json", ...args], {}, tree);
}

/** Waits for the end of a run and returns its directory. */
async function finish(mrlm: Mrlm, isOwn = true): Promise<string> {
  const limit = setTimeout(() => killAll(processTree(mrlm.child.pid as number)), LIMIT_MS);
  const { code, signal, events, stderr }: Finished = await mrlm.finished;
  clearTimeout(limit);
  const summary = events.find(({ event }) => event === "summary");
  if (code === 0 && summary?.["status"] === "finished") return summary["directory"] as string;
  const errors = stderr.split("\n").filter((line) => line.startsWith("error"));
  const reason = errors.length > 0 ? errors.join(" ") : `exit code ${code ?? signal}: ${stderr.slice(-500)}`;
  throw code === REFUSED && !isOwn ? new NotThere(reason) : new Error(reason);
}

/** Runs an example without YAML, which exports its job and a function that trains. */
async function runTypeScript(path: string, tree: string, output: string): Promise<string> {
  const script = `
    const [{ job, train }, { shortened }] = [await import(${JSON.stringify(path)}), await import(${JSON.stringify(CASES)})];
    const { directory } = await train({ ...shortened(job), output: ${JSON.stringify(output)} });
    console.log(JSON.stringify({ directory }));`;
  const child = spawn(nodeIn(tree), ["--input-type=module", "--eval", script], {
    cwd: tree,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS: "" },
    timeout: LIMIT_MS,
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr.slice(-500)}`);
  return (JSON.parse(stdout.trim().split("\n").at(-1) as string) as { directory: string }).directory;
}

function read(run: string): Outcome {
  return { run, fingerprint: fingerprintOf(run) };
}
