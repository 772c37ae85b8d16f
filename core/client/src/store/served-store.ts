import type { EpisodeStore } from "@mrlm/spec/host";
import type { StoreDescription } from "@mrlm/wire";

export interface ServedStore extends EpisodeStore {
  /**
   * Returns what a rollout worker needs beside the store.
   * @param waitMs longest wait for a lost server; default: `reconnectMs`
   */
  describe(waitMs?: number): Promise<StoreDescription>;
}
