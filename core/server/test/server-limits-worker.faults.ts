import { expect, test } from "@jest/globals";
import { fuzzFrames } from "./support/fuzz-frames.ts";
import { fuzzUnary } from "./support/fuzz-unary.ts";

process.env["SERVED_BY"] = "worker";
// FAULTS_SEED repeats a run.
const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);

test("10,000 damaged frames and unary requests of which some reach a worker end in errors, and leave it at work for others", async () => {
  console.log(`FAULTS_SEED=${seed}`);
  expect((await fuzzFrames(seed, 1_600)) + (await fuzzUnary(seed, 400))).toBeGreaterThan(10_000);
}, 600_000);
