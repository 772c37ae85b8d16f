import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import { modelDirectory } from "../src/run/model-directory.ts";
import { RunDirectory } from "../src/run/run-directory.ts";
import { failure, QUICK, resume, stoppedAfter, train, weights } from "./support/resumes.ts";
import { removeTemporaryDirectories } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

describe("N25: a run without a checkpoint that begins again under another configuration", () => {
  /** Returns a run whose first optimizer step failed. */
  async function begun(): Promise<string> {
    const engine = new Proxy(new BigramEngine() as Engine, {
      get: (target, property: keyof Engine) =>
        property === "optimStep"
          ? () => Promise.reject(new MrlmError("ENGINE_EXITED", "killed"))
          : target[property].bind(target),
    });
    const { hint } = await failure(train(QUICK, { engine }));
    return /--resume (\S+)/.exec(hint)?.[1] as string;
  }

  test("names each field that has changed, and keeps the new configuration as its source", async () => {
    const directory = await begun();
    const stages = [QUICK.stages[0], { ...QUICK.stages[1], learning_rate: 0.25 }];
    const { notices, summary } = await resume(directory, { ...QUICK, stages });
    expect([notices, summary.status]).toEqual([
      [
        "config.yaml was changed since the run was started, and holds: stages[1].options.learning_rate: nothing -> 0.25.",
      ],
      "finished",
    ]);
    expect(readFileSync(join(directory, "config.source.yaml"), "utf8")).toContain("learning_rate: 0.25");
  });

  test("has no notice where nothing changed", async () => {
    expect((await resume(await begun())).notices).toEqual([]);
  });
});

describe("U13: a run with damaged files", () => {
  test("E: an empty run.json and engine.json, as a loss of power leaves them, count as missing: the same bits", async () => {
    const directory = await stoppedAfter(3);
    truncateSync(join(directory, "run.json"));
    writeFileSync(join(directory, "engine.json"), "");
    const run = RunDirectory.open(directory);
    expect([run.readRecord(), run.readEngine()]).toEqual([{}, undefined]);
    expect(await modelDirectory(directory)).toMatchObject({
      run: directory,
      path: expect.stringContaining("checkpoints"),
    });
    expect(weights(await resume(directory))).toEqual(weights(await train(QUICK)));
  });

  test("E: the error of a file that cannot be read does not state that it could not be written", async () => {
    const [first, second] = [await stoppedAfter(3), await stoppedAfter(3)];
    rmSync(join(first, "tokenizer"), { recursive: true });
    rmSync(join(second, "metrics.jsonl"));
    mkdirSync(join(second, "metrics.jsonl"));
    for (const [directory, message] of [
      [first, /tokenizer of the run cannot be read: there is no such file/],
      [second, /metrics\.jsonl of the run cannot be read: it is a directory/],
    ] as const)
      expect(await failure(resume(directory))).toMatchObject({
        code: "DATA_INVALID",
        message: expect.stringMatching(message),
      });
  });
});
