import { describe } from "@jest/globals";
import { TOOL_FORMAT_NAMES } from "../../src/renderer.ts";
import { checkFormat } from "./check-format.ts";

/** Seed of the run; FAULTS_SEED repeats a run. */
const SEED = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
console.log(`FAULTS_SEED=${SEED}`);

describe.each(TOOL_FORMAT_NAMES)("%s", (name) => {
  checkFormat(name, { seed: SEED, calls: 1000, faults: 5000, texts: 5000, characters: 2 ** 20 });
});
