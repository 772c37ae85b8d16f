import type { EpisodePurpose } from "@mrlm/spec/host";
import type { StorePlace } from "./store-place.ts";

/** Settings of an opened store. */
export interface StoreSettings extends StorePlace {
  /** Id of the run; a store of another run is refused. Left out: any store. */
  readonly run?: string;
  readonly purpose: EpisodePurpose;
  /** Abandons the cohorts that nothing has played: the caller holds the run's lock, and opens again what it needs. */
  readonly endsLeases: boolean;
  /** Step of the checkpoint from which the run resumes. What training processes recorded after it is marked as replayed. */
  readonly resumedAt?: number;
  /** Time that a write waits for another process, and the opening for a server, in milliseconds (default 10,000). */
  readonly busyMs?: number;
  /** Time that an operation waits for a server of Postgres that was lost, in milliseconds (default 600,000). */
  readonly reconnectMs?: number;
}
