import { checkInterleavings } from "./contract/interleavings.ts";
import { FilePlace } from "./contract/places.ts";

// FAULTS_SEED repeats a run.
const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
console.log(`FAULTS_SEED=${seed}`);
checkInterleavings({ place: async () => new FilePlace(), interleavings: 2_000, groups: 0 }, { seed, runs: 2_000 });
