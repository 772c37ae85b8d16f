// Samplers beside the real engine: the weights of a run do not depend on them.
import { expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig, RunDirectory } from "@mrlm/runtime";
import { createAuthority } from "@mrlm/testing";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { type Finished, Mrlm } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { TINY, writeConfig } from "../e2e/support/tiny-run.ts";

const STEPS = 4;
const PIPELINED = {
  ...TINY,
  server: {},
  play: { mode: "pipelined", lag: 1, cohorts: 2 },
  eval: { tasks: 0 },
  checkpoint: { every: 0 },
  stages: [{ algorithm: "grpo@1", steps: STEPS, prompts_per_step: 4, group_size: 4, mismatch: "truncate" }],
};

describeWithEngine("samplers beside the engine (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();

  /** Begins a run, whose directory exists beforehand. */
  function newRun(name: string, samplers: number): RunDirectory {
    const output = join(directory, name);
    const config = { ...PIPELINED, engine: { ...TINY.engine, samplers }, output };
    const path = writeConfig(directory, config, `${name}.yaml`);
    return RunDirectory.create(loadConfig(path).config, readFileSync(path, "utf8"));
  }

  const train = ({ path }: RunDirectory): Mrlm => new Mrlm(["train", "--json", "--resume", path]);

  /** Flags of a sampler that listens as one on another machine does, with TLS. */
  function elsewhere(host: string): string[] {
    const authority = createAuthority();
    const write = (name: string, text: string): string => {
      const path = join(directory, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const { cert, key } = authority.issue({ names: [host] });
    const own = ["--tls-cert", write("cert.pem", cert), "--tls-key", write("key.pem", key)];
    return ["--host", host, ...own, "--tls-ca", write("authority.pem", authority.cert)];
  }

  function assertEnded({ code, stderr }: Finished): void {
    if (code !== 0) throw new Error(stderr);
  }

  test("a run alone, and one with a sampler that is killed and another one that joined over TLS have the same bits", async () => {
    const [alone, disturbed] = [newRun("alone", 0), newRun("disturbed", 1)];
    const joining = new Mrlm([
      "sample",
      "--json",
      "--run",
      disturbed.path,
      "--name",
      "guest",
      ...elsewhere("127.0.0.2"),
    ]);
    const undisturbed = train(alone);
    const { address } = await joining.event(({ event }) => event === "sampling");
    expect(address).toMatch(/^127\.0\.0\.2:/);
    assertEnded(await undisturbed.finished);
    const training = train(disturbed);
    await training.event(({ event, step }) => event === "iteration" && step === 1);
    const [pid] = training.pids("sampler") as [number];
    process.kill(pid, "SIGKILL");
    const ended = await training.finished;
    assertEnded(ended);
    assertEnded(await joining.finished);
    for (const name of ["guest", "sampler-1"])
      expect(ended.stderr).toMatch(new RegExp(`sampler ${name} at \\S+ serves`));
    expect(ended.stderr).not.toMatch(/sampler guest at .* is out of service/);
    const expected = outcomeOf(alone.path);
    expect(expected.metrics.length).toBeGreaterThanOrEqual(STEPS);
    expect(outcomeOf(disturbed.path)).toEqual(expected);
  }, 120_000);
});
