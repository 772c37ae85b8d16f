import type { EpisodeStore } from "@mrlm/spec/host";

/** Settings of an opened store that the contract varies. */
export interface OpenedAs {
  /** Default: `true`, as a training process does. */
  readonly endsLeases?: boolean;
  readonly resumedAt?: number;
}

/** A place of one store, new and empty. */
export interface StorePlace {
  /** Opens the store, or opens it once more beside those that are open. */
  open(as?: OpenedAs): Promise<EpisodeStore>;
  /** Advances the clock of the store. */
  advance(ms: number): void;
  /** Ends every opened store as the end of its process would: nothing is closed. */
  crash(): Promise<void>;
  /** Closes every opened store and removes the place. */
  dispose(): Promise<void>;
}

/** Makes places of one kind of store, and states how many random cases are tried. */
export interface StoreHarness {
  place(): Promise<StorePlace>;
  readonly interleavings: number;
  readonly groups: number;
}
