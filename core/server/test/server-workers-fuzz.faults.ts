import { expect, test } from "@jest/globals";
import { fuzzFrames } from "./support/fuzz-frames.ts";

test("1,000 sequences of damaged frames end in errors, and leave the server and its worker at work for others", async () => {
  process.env["SERVED_BY"] = "worker";
  // FAULTS_SEED repeats a run.
  const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`FAULTS_SEED=${seed}`);
  expect(await fuzzFrames(seed, 1_000)).toBeGreaterThan(1_000);
}, 600_000);
