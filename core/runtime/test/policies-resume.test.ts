import { afterAll, expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig, RunDirectory } from "@mrlm/runtime";
import { samplingOf } from "../src/config/policies.ts";
import type { LoadedConfig } from "../src/config/load-config.ts";
import { PastCopies } from "../src/models/past-copies.ts";
import { extensionOf, learningSettings } from "../src/resume/resume-compatibility.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

function load(stages: string, policies: string): LoadedConfig {
  const directory = temporaryDirectory();
  const path = join(directory, "run.yaml");
  writeFileSync(path, `name: t\noutput: ${directory}\npolicies: ${policies}\nstages:\n  - ${stages}\n`);
  return loadConfig(path);
}

test("the written configuration of a run samples as the given one where a policy and its learner both state sampling", () => {
  const { config } = load(
    "learners: {a: {algorithm: grpo, sampling: {temperature: 0.9}}}",
    "{a: {path: m, sampling: {temperature: 0.5, top_k: 4}}}",
  );
  const written = loadConfig(RunDirectory.create(config, "").configPath).config;
  const sampling = [config, written].map((each) => samplingOf(each, "a", each.stages[0]));
  expect(sampling[0]).toMatchObject({ temperature: 0.9, top_k: 4 });
  expect(sampling[1]).toEqual(sampling[0]);
});

test("a resumed run may have more steps and other memory where the name of a policy has a dot", () => {
  const settings = (steps: number, tokens: number) =>
    learningSettings(
      load(
        `learners: {qwen2.5: {algorithm: grpo, steps: ${steps}}}`,
        `{qwen2.5: {path: /m, micro_batch_tokens: ${tokens}}, b: {path: /m}}`,
      ).config,
    );
  const extension = extensionOf("checkpoint", settings(2, 64), settings(3, 32), { stage: 0, iteration: 1 });
  expect(extension.changed).toEqual([{ stage: 0, before: 2, after: 3 }]);
  expect(extension.memory.map(({ field }) => field)).toEqual(["policies.qwen2.5.micro_batch_tokens"]);
});

test("the engine holds no more copies of earlier versions than the memory estimate counts", async () => {
  const held = new Set<string>();
  let most = 0;
  const engine = {
    async createModel({ model }: { readonly model: string }) {
      held.add(model);
      most = Math.max(most, held.size);
      return undefined as never;
    },
    async releaseModel(model: string) {
      held.delete(model);
    },
  };
  const copies = new PastCopies([{ policy: "a", every: 1, keep: 2 }], {});
  for (let version = 1; version <= 5; version++) await copies.follow(engine, "a", version);
  expect(copies.versions("a")).toEqual([4, 5]);
  expect(most).toBe(2);
});
