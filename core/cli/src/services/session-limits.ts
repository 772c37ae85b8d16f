import { didYouMean, resolveVersioned, type ResolvedConfig, withBareNames } from "@mrlm/runtime";
import type { SessionLimits } from "@mrlm/server/sessions";
import { MrlmError } from "@mrlm/spec";
import type { ServeOptions } from "../declarations/serve.ts";

/** Keys of `server` in a configuration that limit its sessions. */
export type LimitKeys = Pick<
  ResolvedConfig["server"],
  | "max_sessions"
  | "max_sessions_by_environment"
  | "max_sessions_per_client"
  | "max_queue"
  | "queue_seconds"
  | "lease_seconds"
  | "drain_seconds"
>;

/** Limits of a server, and the time that its open sessions get when it stops. */
export interface ServerLimits extends SessionLimits {
  readonly drainMs: number;
}

/** Time for the open sessions after a request to end. */
const DRAIN_MS = 10_000;
/** Longest delay of a timer in seconds. */
const MAX_SECONDS = Math.floor((2 ** 31 - 1) / 1000);

/**
 * Returns the limits that the flags state, or else the configuration. Throws USAGE for a wrong flag, and ENVIRONMENT_NOT_FOUND with the nearest name for a
 * limit of an environment that is not served.
 * @param offered ids of the environments that are served
 * @param isOwn whether the one client is the run that has started the server: it gets all places
 */
export function sessionLimits(
  options: Partial<ServeOptions>,
  keys: LimitKeys,
  { offered, isOwn }: { readonly offered: readonly string[]; readonly isOwn: boolean },
): ServerLimits {
  const milliseconds = (given: number | undefined, flag: string): number | undefined => {
    if (given !== undefined && given > MAX_SECONDS)
      throw new MrlmError("USAGE", `${flag} ${given} is above ${MAX_SECONDS}, about 24 days.`);
    return given === undefined ? undefined : given * 1000;
  };
  const given = options.maxSessions ?? [];
  const total = given.findLast(({ environment }) => environment === undefined)?.places;
  const byEnvironment = given.flatMap(({ environment, places }) =>
    environment === undefined ? [] : [[environmentId(environment, offered, "--max-sessions"), places] as const],
  );
  const maxSessions = total ?? keys.max_sessions ?? 4096;
  const perClient = options.maxSessionsPerClient ?? keys.max_sessions_per_client;
  const leaseMs = milliseconds(options.leaseSeconds ?? keys.lease_seconds, "--lease-seconds");
  if (leaseMs !== undefined && leaseMs < 1_000)
    throw new MrlmError("USAGE", `--lease-seconds ${leaseMs / 1000} is below 1: clients could not renew in time.`);
  const configured = Object.entries(keys.max_sessions_by_environment ?? {}).map(
    ([name, places]) => [environmentId(name, offered, "server.max_sessions_by_environment"), places] as const,
  );
  return {
    maxSessions,
    maxSessionsPerClient: perClient ?? (isOwn ? maxSessions : undefined),
    maxSessionsByEnvironment: Object.fromEntries([...configured, ...byEnvironment]),
    maxQueue: options.maxQueue ?? keys.max_queue,
    queueMs: milliseconds(options.queueSeconds ?? keys.queue_seconds, "--queue-seconds"),
    leaseMs,
    drainMs: milliseconds(options.drainSeconds ?? keys.drain_seconds, "--drain-seconds") ?? DRAIN_MS,
  };
}

function environmentId(name: string, offered: readonly string[], place: string): string {
  const id = resolveVersioned(name, offered);
  if (id !== undefined) return id;
  throw new MrlmError(
    "ENVIRONMENT_NOT_FOUND",
    `${place} limits the sessions of "${name}", which is not served here.${didYouMean(name, withBareNames(offered))}`,
    { hint: `Served: ${offered.join(", ")}.` },
  );
}
