import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin, messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, score } from "@mrlm/spec";
import { parseConfig, PluginHost, LocalHost, prepareRun, type PreparedRun } from "@mrlm/runtime";
import { stringify } from "yaml";
import { counterEnvironment } from "./counter-environment.ts";
import { imitate } from "./imitate.ts";
import { reinforce } from "./reinforce.ts";

/** Rewards each letter "a", whatever was asked. */
export const letters: EnvironmentDefinition<any> = counterEnvironment({
  id: "letters@1",
  options: undefined,
  create: () => ({
    reset: async ({ task }) => observe([textMessage("user", String(task).slice(-1))]),
    step: async ({ message }) => {
      const text = messageText(message);
      const count = [...text].filter((letter) => letter === "a").length;
      return singleStep({ reward: score(count, { correct: Number(count > 0) }), terminated: true });
    },
  }),
});

export const CONFIG = {
  name: "test",
  seed: 7,
  model: {
    random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcdefgh0123456789" } } },
  },
  environments: [{ id: "letters" }],
  sampling: { max_tokens: 8 },
  stages: [
    { algorithm: "reinforce", name: "first", steps: 3 },
    { algorithm: "reinforce", name: "second", steps: 4, with_reference: true },
  ],
  eval: { tasks: 4, every: 2 },
  checkpoint: { every: 2, keep: 100 },
};

/** Run whose episodes are programs in processes. */
export const PROGRAMS_CONFIG = {
  ...CONFIG,
  environments: [{ id: "processes" }],
  stages: [{ algorithm: "reinforce", steps: 3, tasks: 1, group_size: 4 }],
  eval: { tasks: 0 },
  checkpoint: { every: 1, keep: 100 },
};

const made: string[] = [];

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-run-"));
  made.push(directory);
  return directory;
}

export function removeTemporaryDirectories(): void {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
}

export async function prepare(
  config: Readonly<Record<string, unknown>>,
  ...environments: EnvironmentDefinition<any>[]
): Promise<{ prepared: PreparedRun; host: LocalHost }> {
  const source = await PluginHost.of([
    definePlugin({ name: "test", environments: [letters, ...environments], algorithms: [reinforce, imitate] }),
  ]);
  const host = new LocalHost({ source });
  const loaded = parseConfig(stringify({ ...config, output: config["output"] ?? temporaryDirectory() }), {
    path: "/tmp/run.yaml",
  });
  return { prepared: await prepareRun(loaded, { host, algorithms: source }), host };
}
