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
const CALLED = { rewards: [0, 0], terminated: [true, true], tool_outputs: ["42", "42"] };

const NEMO_GYM = { folder: "examples/interop/nemo-gym", program: "run.py", python: "3.13" };

await testPeer(
  "NeMo Gym's SimpleAgent and GymnasiumAgent play rows, with and without tools",
  NEMO_GYM,
  async (play) => {
    const solved = { ...SOLVED, mean: 0.5 };
    expect(await play(server.byEnvironment["math@1"] ?? "")).toEqual({ simple: solved, gymnasium: solved });
    const called = { ...CALLED, mean: 0 };
    expect(await play(server.byEnvironment["tools@1"] ?? "")).toEqual({ simple: called, gymnasium: called });
  },
);

const VERIFIERS = { folder: "examples/interop/verifiers", program: "run.py" };

await testPeer("verifiers evaluates by its taskset of NeMo Gym", VERIFIERS, async (play) => {
  expect(await play(`${server.url}/math@1`)).toEqual(SOLVED);
  expect(await play(`${server.url}/tools@1`)).toEqual(CALLED);
});
