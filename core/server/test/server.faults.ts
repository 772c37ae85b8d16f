import { expect, test } from "@jest/globals";
import { fuzzFrames } from "./support/fuzz-frames.ts";

test("4,000 sequences of damaged frames end in errors, and leave the server at work for others", async () => {
  // FAULTS_SEED repeats a run.
  const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`FAULTS_SEED=${seed}`);
  const frames = await fuzzFrames(seed, 4_000);
  expect(frames).toBeGreaterThan(4_000);
}, 600_000);
