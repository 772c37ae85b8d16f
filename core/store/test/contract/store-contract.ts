import { describe } from "@jest/globals";
import { describeBatches } from "./batches.ts";
import { describeEpisodes } from "./episodes.ts";
import { checkInterleavings } from "./interleavings.ts";
import { describeLeases } from "./leases.ts";
import { describeMembers } from "./members.ts";
import type { StoreHarness } from "./store-place.ts";

/** Tests every rule of `EpisodeStore` that holds wherever the store is. */
export function storeContract(name: string, harness: StoreHarness): void {
  describe(`the contract of episode stores: ${name}`, () => {
    describeLeases(harness);
    describeBatches(harness);
    describeEpisodes(harness);
    describeMembers(harness);
    if (harness.interleavings > 0) checkInterleavings(harness, { seed: 7, runs: harness.interleavings });
  });
}
