import { afterAll, beforeAll, expect } from "@jest/globals";
import { testPeer } from "./support/peer-python.ts";
import { type ServedEnvironments, servedEnvironments } from "./support/served-environments.ts";

let server: ServedEnvironments;
beforeAll(async () => {
  server = await servedEnvironments();
}, 60_000);
afterAll(() => server.close());

const CLIENT = { folder: "test/interop/sandbox-fusion", program: "check.py" };

await testPeer("SandboxFusion's client runs programs, 64 at once", CLIENT, async (play) => {
  expect(await play(server.url)).toEqual({
    success: ["Success", "Finished", 0, "in\n"],
    error: ["Failed", "Finished", 3, ""],
    timeout: ["Failed", "TimeLimitExceeded", null, ""],
    nodejs: ["Success", "Finished", 0, "42\n"],
    typescript: ["Success", "Finished", 0, "42\n"],
    fetched: true,
    refused: true,
    squares: true,
  });
});

const VERL = { folder: "examples/interop/verl-sandbox", program: "run.py" };

await testPeer("verl's check_correctness grades programs", VERL, async (play) => {
  expect(await play(server.url)).toEqual({
    results: [true, false],
    runtime_error: [-2],
    timeout: [-3],
    function: [true],
    right_of_64: 64,
  });
});
