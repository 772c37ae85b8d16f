import { checkInterleavings } from "./contract/interleavings.ts";
import { FilePlace } from "./contract/places.ts";

// `npm run test:faults -- store` has thousands.
checkInterleavings({ place: async () => new FilePlace(), interleavings: 40, groups: 0 }, { seed: 7, runs: 40 });
