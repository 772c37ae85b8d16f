import { afterAll, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { BigramEngine } from "@mrlm/testing";
import { MetricsFile, openRun, trainRun } from "@mrlm/runtime";
import { CONFIG, prepare, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const SCRIPT = fileURLToPath(new URL("support/training-process.ts", import.meta.url));

/** Starts a run and kills it with SIGKILL right after so many checkpoints. */
async function killedRun(afterCheckpoints: number): Promise<string> {
  const output = temporaryDirectory();
  const child = spawn(process.execPath, ["--conditions=mrlm-source", "--no-warnings", SCRIPT, output], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  let seen = 0;
  let path = "";
  for await (const line of createInterface({ input: child.stdout })) {
    path = line;
    if (++seen === afterCheckpoints) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGKILL");
  return dirname(dirname(path));
}

test("numerics 52: kill -9 of the process, resume, and the rest is bit-identical to a run that was never interrupted", async () => {
  const directory = await killedRun(5);
  const { run, checkpoint } = await openRun(directory, () => undefined);
  expect(checkpoint?.state["step"]).toBeGreaterThanOrEqual(5);
  const whole = await prepare({ ...CONFIG, stages: [{ algorithm: "reinforce", steps: 400 }], eval: { tasks: 0 } });
  const played = async (options: { readonly resume: boolean }): Promise<unknown[]> => {
    const drain = new AbortController();
    const target = Number(checkpoint?.state["step"]) + 7; // The run was on its way to step 400, which is far more than the test needs.
    const summary = await trainRun({
      prepared: whole.prepared,
      host: whole.host,
      engine: new BigramEngine(),
      drain: drain.signal,
      onEvent: (event) => event.kind === "iteration" && event.step === target && drain.abort(),
      ...(options.resume && checkpoint !== undefined ? { run, checkpoint } : {}),
    });
    const engine = join(
      summary.directory,
      "checkpoints",
      readdirSync(join(summary.directory, "checkpoints")).sort().at(-1) as string,
      "engine",
    );
    const weights = readdirSync(engine)
      .sort()
      .map((name) => readFileSync(join(engine, name)).toString("base64"));
    return [
      weights,
      new MetricsFile(join(summary.directory, "metrics.jsonl")).rows().map(({ seconds: _, ...row }) => row),
    ];
  };
  expect(await played({ resume: true })).toEqual(await played({ resume: false }));
});
