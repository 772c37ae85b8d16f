import { expect, test } from "@jest/globals";
import { parseConfig } from "@mrlm/runtime";
import { firstParts, type LaunchedRun, laterParts } from "../src/services/part-commands.ts";

const REST = `
model: { path: /m }
environments: [{ id: math@2 }]
stages: [{ algorithm: grpo@1, steps: 1 }]`;

function launched(yaml: string): LaunchedRun {
  const loaded = parseConfig(`${yaml.trim()}${REST}`, { path: "run.yaml" });
  return { loaded, configPath: "/p/run.yaml", overrides: ["seed=2"], mrlm: ["node", "mrlm"] };
}

test("each kind has its command, and flags can be added", () => {
  const run = launched(`
server: { address: ["127.0.0.1:50061", "[::1]:50062"], token_file: /p/token }
parts:
  - { kind: environments, cpus: 2 }
  - { kind: rollouts, count: 3, gpus: 1, memory_mb: 100, env: { A: b }, restarts: 1 }
  - { kind: sampler }
  - { kind: store, args: [--port, "0"] }
  - { kind: engine, command: [python, -m, mrlm_engine] }
  - { kind: rollouts, command: [play.sh, "{run}/x"] }`);
  const base = ["node", "mrlm", "serve", "--config", "/p/run.yaml", "--set", "seed=2", "--host"];
  const rest = ["--demonstrations", "--data-root", run.loaded.config.base_directory, "--token-file", "/p/token"];
  expect(firstParts(run).map(({ part, address }) => [part.count, address, part.command])).toEqual([
    [1, "127.0.0.1:50061", [...base, "127.0.0.1", "--port", "50061", ...rest, "--any-data"]],
    [1, "[::1]:50062", [...base, "::1", "--port", "50062", ...rest, "--any-data"]],
    [1, undefined, ["python", "-m", "mrlm_engine"]],
  ]);
  expect(laterParts(run, "/runs/r")).toEqual([
    {
      part: {
        kind: "rollouts",
        count: 3,
        command: ["node", "mrlm", "play", "--run", "/runs/r"],
        gpus: 1,
        memory: 100 * 1024 ** 2,
        env: { A: "b" },
      },
      restarts: 1,
    },
    {
      part: { kind: "sampler", count: 1, command: ["node", "mrlm", "sample", "--run", "/runs/r"], env: {} },
      restarts: 5,
    },
    {
      part: {
        kind: "store",
        count: 1,
        command: ["node", "mrlm", "store", "serve", "--run", "/runs/r", "--port", "0"],
        env: {},
      },
      restarts: 5,
    },
    { part: { kind: "rollouts", count: 1, command: ["play.sh", "/runs/r/x"], env: {} }, restarts: 5 },
  ]);
});

test.each([
  ["parts: [{ kind: engine }]", "run.yaml:1:9: a part of kind engine needs a `command`."],
  ["parts: [{ kind: environments }]", "environment servers need `server.address`"],
  [
    "server: { address: 'dns:a:1' }\nparts: [{ kind: environments }]",
    "run.yaml:2:9: a server cannot be started at dns:a:1",
  ],
  ["server: { address: 'a:1' }\nparts: [{ kind: environments, count: 2 }]", "2 environment servers need 2 addresses"],
])("%s is refused with its place", (yaml, text) => {
  expect(() => firstParts(launched(yaml))).toThrow(text);
});
