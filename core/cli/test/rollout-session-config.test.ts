import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { rolloutSessionConfig } from "../src/services/rollout-session-config.ts";
import type { FetchModel } from "../src/services/stored-models.ts";

const made: string[] = [];
afterAll(() => made.forEach((path) => rmSync(path, { recursive: true, force: true })));

/** Returns a finished run of a base model, with the configuration's `lora`. */
function runOf(lora: string): { readonly run: string; readonly base: string } {
  const run = mkdtempSync(join(tmpdir(), "mrlm-session-"));
  const base = join(run, "base");
  made.push(run);
  mkdirSync(base);
  mkdirSync(join(run, "model", "adapter"), { recursive: true });
  writeFileSync(join(run, "run.json"), JSON.stringify({ status: "finished" }));
  writeFileSync(
    join(run, "config.yaml"),
    `model: {path: base${lora}}\nenvironments: [{id: math}]\nstages: [{algorithm: none}]\n`,
  );
  return { run, base };
}

const never: FetchModel = () => Promise.reject(new Error("no model is fetched"));
const modelOf = async (model: string, fetch = never): Promise<unknown> =>
  (await rolloutSessionConfig({ model, environment: "math", split: "eval" }, fetch)).config.policies["policy"];

test("a model of the hub and an adapter of peft are played from the directories into which they and the base are fetched", async () => {
  const fetch: FetchModel = async (name) => ({
    ...{ name, revision: "main", commit: "c", licence: "mit", bytes: 1 },
    directory: join("/cache", name),
  });
  expect(await modelOf("hub:org/name@v1", fetch)).toMatchObject({ path: "/cache/hub:org/name@v1" });
  const adapter = mkdtempSync(join(tmpdir(), "mrlm-session-"));
  made.push(adapter);
  writeFileSync(join(adapter, "adapter_config.json"), JSON.stringify({ base_model_name_or_path: "org/base" }));
  expect(await modelOf(adapter, fetch)).toMatchObject({ path: "/cache/hub:org/base", lora: { path: adapter } });
});

test("M1: a run with an adapter is played as its base model and its adapter, else as its merged model without the run's own adapter settings", async () => {
  const adapted = runOf(", lora: {rank: 4, alpha: 8}");
  expect(await modelOf(adapted.run)).toMatchObject({
    path: adapted.base,
    lora: { path: join(adapted.run, "model", "adapter") },
  });
  rmSync(adapted.base, { recursive: true });
  expect(await modelOf(adapted.run)).toMatchObject({ path: join(adapted.run, "model"), lora: undefined });
  const full = runOf("");
  expect(await modelOf(full.run)).toMatchObject({ path: join(full.run, "model"), lora: undefined });
});

test("the other policies of a run play with their own sampling, which flags replace", async () => {
  const run = mkdtempSync(join(tmpdir(), "mrlm-session-"));
  made.push(run);
  for (const policy of ["doctor", "patient", "nurse"]) mkdirSync(join(run, "models", policy), { recursive: true });
  writeFileSync(join(run, "run.json"), JSON.stringify({ status: "finished" }));
  const sampling = "sampling: { temperature: 0.5, max_tokens: 9 }";
  writeFileSync(
    join(run, "config.yaml"),
    `policies: { doctor: { path: a, ${sampling} }, patient: { path: b }, nurse: { path: c, ${sampling} } }
sampling: { max_tokens: 3 }
environments: [{ id: consultation, players: { doctor: doctor, patient: patient } }]
stages: [{ learners: { doctor: { algorithm: none } } }]
`,
  );
  const args = { model: run, policy: "doctor", environment: "consultation", split: "eval" };
  const { config, otherSampling } = await rolloutSessionConfig(args, never);
  expect(config.sampling).toMatchObject({ temperature: 0.5, max_tokens: 9 });
  expect([...otherSampling]).toEqual([
    [join(run, "models", "patient"), expect.objectContaining({ temperature: 1, max_tokens: 3 })],
  ]);
  const flagged = await rolloutSessionConfig({ ...args, temperature: 0, maxTokens: 5 }, never);
  expect([...flagged.otherSampling]).toEqual([]);
});
