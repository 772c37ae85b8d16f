import { afterAll, beforeAll, expect } from "@jest/globals";
import { testPeer } from "./support/peer-python.ts";
import { type ServedEnvironments, servedEnvironments } from "./support/served-environments.ts";

let server: ServedEnvironments;
beforeAll(async () => {
  server = await servedEnvironments();
}, 60_000);
afterAll(() => server.close());

/** The first row is a sum, which the script solves. */
const SOLVED = { rewards: [1, 0], terminated: [true, true], tool_outputs: [] };
/** The answers are no programs. The environment replies to the first, which only GymnasiumAgent gives the model. */
const CUT = { rewards: [0, 0], terminated: [false, false], tool_outputs: [] };
const CALLED = { rewards: [0, 0], terminated: [true, true], tool_outputs: ["42", "42"] };

const NEMO_GYM = { folder: "examples/interop/nemo-gym", program: "run.py", python: "3.13" };

await testPeer(
  "NeMo Gym's SimpleAgent and GymnasiumAgent play rows, with and without tools",
  NEMO_GYM,
  async (play) => {
    const solved = { ...SOLVED, mean: 0.5 };
    expect(await play(server.byEnvironment["math@2"] ?? "")).toEqual({ simple: solved, gymnasium: solved });
    const called = { ...CALLED, mean: 0 };
    expect(await play(server.byEnvironment["tools@2"] ?? "")).toEqual({ simple: called, gymnasium: called });
    expect(await play(server.byEnvironment["code@2"] ?? "")).toEqual({
      simple: { ...CUT, mean: 0 },
      gymnasium: { ...CUT, terminated: [true, true], mean: 0 },
    });
  },
);

const CONTRACT = { ...NEMO_GYM, folder: "test/interop/nemo-gym", program: "check.py" };

await testPeer("NeMo Gym's check of sessions that an environment server names passes", CONTRACT, async (play) => {
  for (const id of ["math@2", "tools@2"])
    expect(await play(server.byEnvironment[id] ?? "")).toEqual({ statuses: [200, 200, 200, 200, 200, 410, 410] });
});

const VERIFIERS = { folder: "examples/interop/verifiers", program: "run.py" };

await testPeer("verifiers evaluates by its taskset of NeMo Gym", VERIFIERS, async (play) => {
  expect(await play(`${server.url}/math@2`)).toEqual(SOLVED);
  expect(await play(`${server.url}/tools@2`)).toEqual(CALLED);
});
