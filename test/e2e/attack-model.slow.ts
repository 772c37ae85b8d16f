import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ROOT, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();
/** A training of 40 steps and a check take 30 CPU seconds. */
const TEST_MS = 600_000;

/** Copies the counting plugin with another value of the reward, as a project that can train. Returns the folder. */
function trainable(name: string, value: string): string {
  const plugin = join(folder, name);
  cpSync(join(ROOT, "core/testing/fixtures/counting"), plugin, { recursive: true });
  const [source, file] = [join(plugin, "index.js"), join(plugin, "package.json")];
  writeFileSync(source, readFileSync(source, "utf8").replace("value: Number(isRight)", `value: ${value}`));
  const manifest = JSON.parse(readFileSync(file, "utf8")) as object;
  const dependencies = { "@mrlm/engine-torch": "*", "@mrlm/grpo": "*" };
  writeFileSync(file, JSON.stringify({ ...manifest, dependencies }));
  mkdirSync(join(plugin, "node_modules"));
  symlinkSync(join(ROOT, "node_modules/@mrlm"), join(plugin, "node_modules/@mrlm"));
  return plugin;
}

/** Returns the findings of the search after a training, and what the training reports. */
async function attack(plugin: string): Promise<{ readonly findings: readonly string[]; readonly trained: string }> {
  const args = [
    "check",
    plugin,
    "--attack",
    "--model",
    "--episodes",
    "400",
    "--only",
    "environment:counting",
    "--json",
  ];
  const { code, events, stderr } = await run(args);
  expect({ code, stderr: code === 0 || code === 4 ? "" : stderr }).toEqual({ code, stderr: "" });
  const paid = events.filter((event) => event["code"] === "STRATEGY_PAYS");
  const trained = events.find((event) => event["check"] === "training");
  return { findings: paid.map((event) => String(event["message"])), trained: String(trained?.["text"]) };
}

// The search has no program that writes several tildes, and the source holds none: only a policy that is paid for the first one gets there.
const HOLE =
  'Math.max(Number(isRight), Math.min(1, message.parts.map(({ text = "" }) => text).join("").split(String.fromCharCode(126)).slice(1).length / 3))';

test(
  "a tiny model learns what a hole pays for, and the search names it",
  async () => {
    const { findings, trained } = await attack(trainable("paid-marks", HOLE));
    expect(trained).toMatch(
      /^a tiny model trained by GRPO for 40 steps: mean reward 0\.\d+, then (0\.[5-9]\d+|1\.000)\./,
    );
    expect(findings).toEqual([expect.stringMatching(/what a model learns to write by training \("[^\n]*~[^\n]*~/)]);
  },
  TEST_MS,
);

test(
  "training in a sound environment leads to no finding",
  async () => {
    const { findings, trained } = await attack(trainable("sound", "Number(isRight)"));
    expect(trained).toMatch(/^a tiny model trained by GRPO for 40 steps/);
    expect(findings).toEqual([]);
  },
  TEST_MS,
);
