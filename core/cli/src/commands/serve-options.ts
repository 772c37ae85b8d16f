import type { AccessOptions } from "../services/server-access.ts";
import type { ObservationOptions } from "../services/server-observation.ts";
import type { LimitOptions } from "../services/session-limits.ts";

/** Options of `mrlm serve`. */
export interface ServeOptions extends AccessOptions, LimitOptions, ObservationOptions {
  readonly environments?: string;
  readonly model?: string;
  readonly engine?: string;
  readonly engineTokenFile?: string;
  readonly port?: string;
  readonly config?: string;
  readonly set?: readonly string[];
  readonly httpPort?: readonly string[];
  readonly dialects?: string;
  readonly revealRewards?: boolean;
  readonly nemoGymUnscored?: "mask" | "error";
  readonly unsafeSandbox?: boolean;
  readonly dataRoot?: string;
  readonly anyData?: boolean;
  readonly demonstrations?: boolean;
  readonly workers?: string;
  readonly workerMemoryMb?: string;
  readonly reload?: boolean;
}
