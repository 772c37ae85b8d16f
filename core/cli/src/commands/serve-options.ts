import type { ObservationOptions } from "../services/server-observation.ts";
import type { LimitOptions } from "../services/session-limits.ts";

/** Options of `mrlm serve`. */
export interface ServeOptions extends LimitOptions, ObservationOptions {
  readonly environments?: string;
  readonly model?: string;
  readonly engine?: string;
  readonly engineTokenFile?: string;
  readonly port?: string;
  readonly host: string;
  readonly config?: string;
  readonly set?: readonly string[];
  readonly tokenFile?: string;
  readonly httpPort?: string;
  readonly dialects?: string;
  readonly revealRewards?: boolean;
  readonly untilStdinEnds?: boolean;
  readonly unsafeSandbox?: boolean;
  readonly dataRoot?: string;
  readonly anyData?: boolean;
  readonly demonstrations?: boolean;
  readonly workers?: string;
  readonly workerMemoryMb?: string;
}
