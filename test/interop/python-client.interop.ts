import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Mrlm, ROOT } from "../e2e/support/mrlm.ts";
import { testPeer } from "./support/peer-python.ts";
import { clientWheel } from "./support/client-wheel.ts";

const run = promisify(execFile);
const FOLDER = join(ROOT, "test/interop/python-client");
const README = join(ROOT, "core/client/python/README.md");
const ENVIRONMENTS = ["nim", "signals", "consultation", "debate", "math", "tools", "relay", "outcomes", "research"];

let server: Mrlm;
let address: string;
beforeAll(async () => {
  const config = join(ROOT, "test/python-client/environments/environments.yaml");
  server = new Mrlm(["serve", "--json", "--environments", ENVIRONMENTS.join(","), "--config", config, "--port", "0"]);
  address = (await server.event(({ event }) => event === "listening"))["address"] as string;
}, 60_000);
afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.finished;
});

const wheel = await clientWheel();

if ("reason" in wheel) test.skip(`the wheel of mrlm-client (${wheel.reason})`, () => undefined);
else {
  test("the wheel of mrlm-client in a new virtual environment: check_env of Gymnasium, api_test and seed_test of PettingZoo", async () => {
    const python = await wheel.install(join(FOLDER, "requirements.txt"));
    const { stdout } = await run(python, [join(FOLDER, "check.py"), address, README], { timeout: 240_000 });
    const found = JSON.parse(stdout.trim().split("\n").at(-1) as string) as Record<string, unknown>;
    expect(found).toEqual({
      package: expect.stringContaining("site-packages/mrlm_client"),
      warnings: [],
      tool: "42",
      errors: ["SEED_REFUSED", "unscored JUDGE_FAILED", "ROLES_UNSUPPORTED"],
      pettingzoo: 7,
      readme: 2,
    });
  }, 300_000);

  const env = { PYTHONPATH: wheel.folder };

  const GYMNASIUM = { folder: "examples/interop/gymnasium", program: "run.py", env };
  await testPeer("Gymnasium plays 64 episodes of math@2", GYMNASIUM, async (play) => {
    const found = (await play(address)) as { readonly sums: number };
    expect(found).toMatchObject({ episodes: 64, mean_rewards: { sums: 1 } });
    expect(found.sums).toBeGreaterThan(0);
  });

  const TRL = {
    folder: "test/interop/python-client",
    program: "check_trl.py",
    environment: "examples/interop/trl-ors",
  };
  await testPeer("TRL's GRPOTrainer takes two steps by mrlm-client", { ...TRL, env }, async (play) => {
    const found = (await play(address, README)) as { readonly train: Record<string, number[]> };
    expect(found).toMatchObject({
      tools: {
        names: expect.arrayContaining(["calculator", "move_file", "submit"]),
        calculator: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] },
        result: "42",
        reward: 0,
        late: "EPISODE_ENDED",
      },
      // A reward that could not be computed, and a fault, are null.
      unscored: [1, null, "ENVIRONMENT_FAILED", null],
      train: { rewards: [0.5, 0.5], tool_calls: [1, 1], tool_failures: [0, 0] },
    });
    for (const name of ["reward_stds", "grad_norms"])
      expect(found.train[name]?.map((value) => value > 0)).toEqual([true, true]);
  });

  const VERL = { folder: "test/interop/python-client/verl", program: "check.py", env };
  await testPeer("verl's reward function and tools by mrlm-client", VERL, async (play) => {
    const ended = ["EPISODE_ENDED", "ENVIRONMENT_FAILED"].map((code) => expect.stringMatching(code));
    expect(await play(address, README)).toEqual({
      rewards: {
        readme: expect.any(Number),
        right: 1,
        wrong: 0,
        tools: 0.75,
        errors: ["JUDGE_FAILED", "JUDGE_FAILED", "OPTIONS_INVALID", "TASK_NOT_FOUND"],
      },
      tools: {
        schemas: ["calculator", "submit"],
        played: {
          results: [
            ["42", 0],
            ["2", 0],
            ["The answer was received.", 0],
            [ended[0], null],
          ],
          extra: {},
        },
        faulty: {
          results: [
            ["fine", 1],
            ["unscored", null],
            [ended[1], null],
          ],
          extra: { mrlm_unscored: ["ENVIRONMENT_FAILED", expect.any(String)] },
        },
      },
    });
  });

  const VERIFIERS = { folder: "test/interop/python-client/verifiers", program: "check.py", env };
  await testPeer("verifiers plays episodes by the plugin mrlm-verifiers", VERIFIERS, async (play) => {
    const wrong = { replies: ["<answer>nothing</answer>"], rewards: { environment: 0 } };
    expect(await play(address, README)).toMatchObject({
      math: {
        traces: {
          ...Object.fromEntries([0, 1, 2, 3, 4].map((index) => [`train/${index}`, wrong])),
          "train/5": { rewards: { environment: 1 }, metrics: { correct: 1 } },
        },
        errors: [],
      },
      outcomes: {
        traces: {
          "train/0": { replies: ["fine", "end"], rewards: { environment: 2 } },
          "train/1": { replies: ["fine", "unscored"] },
        },
        errors: [expect.stringContaining("JUDGE_FAILED")],
        // A reward that could not be computed is none.
        unrewarded: ["train/1"],
      },
      tools: { traces: {}, errors: [expect.stringContaining("TOOLS_UNSUPPORTED")] },
    });
  });
}
