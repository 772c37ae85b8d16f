import { test } from "@jest/globals";
import { checkInterleavings } from "./support/interleavings.ts";

test("2,000 interleavings of store operations agree with the model", () => {
  // FAULTS_SEED repeats a run.
  const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`FAULTS_SEED=${seed}`);
  checkInterleavings(seed, 2_000);
}, 600_000);
