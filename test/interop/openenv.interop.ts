import { afterAll, beforeAll, expect } from "@jest/globals";
import { testPeer } from "./support/peer-python.ts";
import { type ServedEnvironments, servedEnvironments } from "./support/served-environments.ts";

let server: ServedEnvironments;
beforeAll(async () => {
  server = await servedEnvironments();
}, 60_000);
afterAll(() => server.close());

const OPENENV = { folder: "test/interop/openenv", program: "check.py" };
const TOOLS = expect.arrayContaining(["calculator", "read_file", "submit"]);

await testPeer("the clients and the validator of OpenEnv", OPENENV, async (play) => {
  const found = (await play(server.byEnvironment["tools@2"] ?? "")) as Record<string, object>;
  expect(found).toMatchObject({
    generic: {
      tools: TOOLS,
      prompt: expect.stringContaining("<answer>"),
      result: "42",
      step_count: 1,
      refused: expect.stringContaining("VALIDATION_ERROR"),
      last: [0, true],
    },
    mcp: { tools: TOOLS, result: "42", step_count: 1 },
    sync: [0, true],
    validate: { code: 0 },
  });
  const { criteria } = found["validate"] as { readonly criteria: Readonly<Record<string, boolean>> };
  expect(Object.values(criteria)).toEqual([true, true, true, true, true, true]);
});

const TRL = { folder: "examples/interop/trl-openenv", program: "run.py" };

await testPeer("TRL's GRPOTrainer takes two steps by OpenEnv", TRL, async (play) => {
  const found = (await play(server.byEnvironment["math@2"] ?? "")) as Record<string, number[]>;
  expect(found).toMatchObject({ rewards: [0.5, 0.5], tool_calls: [1, 1], tool_failures: [0, 0] });
  for (const name of ["reward_stds", "losses", "grad_norms"])
    expect(found[name]?.map((value) => value > 0)).toEqual([true, true]);
});
