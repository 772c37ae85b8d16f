import { didYouMean, resolveVersioned, type ResolvedConfig, withBareNames } from "@mrlm/runtime";
import type { SessionLimits } from "@mrlm/server/sessions";
import { MrlmError } from "@mrlm/spec";
import { realNumber, wholeNumber } from "../arguments.ts";

/** Flags of `mrlm serve` that limit its sessions. */
export interface LimitOptions {
  readonly maxSessions?: readonly string[];
  readonly maxSessionsPerClient?: string;
  readonly maxQueue?: string;
  readonly queueSeconds?: string;
  readonly leaseSeconds?: string;
  readonly drainSeconds?: string;
}

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
  options: LimitOptions,
  keys: LimitKeys,
  { offered, isOwn }: { readonly offered: readonly string[]; readonly isOwn: boolean },
): ServerLimits {
  const count = (text: string | undefined, flag: string, least: number): number | undefined =>
    text === undefined ? undefined : wholeNumber(text, flag, least);
  const seconds = (text: string | undefined, flag: string, key: number | undefined): number | undefined => {
    const given = text === undefined ? key : realNumber(text, flag);
    if (given !== undefined && given > MAX_SECONDS)
      throw new MrlmError("USAGE", `${flag} ${given} is above ${MAX_SECONDS}, about 24 days.`);
    return given === undefined ? undefined : given * 1000;
  };
  const given = placesOf(options.maxSessions ?? [], offered);
  const maxSessions = given.total ?? keys.max_sessions ?? 4096;
  const perClient = count(options.maxSessionsPerClient, "--max-sessions-per-client", 1) ?? keys.max_sessions_per_client;
  const leaseMs = seconds(options.leaseSeconds, "--lease-seconds", keys.lease_seconds);
  if (leaseMs !== undefined && leaseMs < 1_000)
    throw new MrlmError("USAGE", `--lease-seconds ${leaseMs / 1000} is below 1: clients could not renew in time.`);
  const configured = Object.entries(keys.max_sessions_by_environment ?? {}).map(
    ([name, places]) => [environmentId(name, offered, "server.max_sessions_by_environment"), places] as const,
  );
  return {
    maxSessions,
    maxSessionsPerClient: perClient ?? (isOwn ? maxSessions : undefined),
    maxSessionsByEnvironment: { ...Object.fromEntries(configured), ...given.byEnvironment },
    maxQueue: count(options.maxQueue, "--max-queue", 0) ?? keys.max_queue,
    queueMs: seconds(options.queueSeconds, "--queue-seconds", keys.queue_seconds),
    leaseMs,
    drainMs: seconds(options.drainSeconds, "--drain-seconds", keys.drain_seconds) ?? DRAIN_MS,
  };
}

/** Parses `--max-sessions 4096` and `--max-sessions math=200,code=50`. */
function placesOf(
  texts: readonly string[],
  offered: readonly string[],
): { readonly total?: number; readonly byEnvironment: Record<string, number> } {
  let total: number | undefined;
  const byEnvironment: Record<string, number> = {};
  for (const entry of texts.flatMap((text) => text.split(","))) {
    const [name = "", ...rest] = entry.split("=").map((part) => part.trim());
    const places = rest.join("=");
    if (rest.length === 0) total = wholeNumber(name, "--max-sessions", 1);
    else
      byEnvironment[environmentId(name, offered, "--max-sessions")] = wholeNumber(places, `--max-sessions ${name}=`, 1);
  }
  return { byEnvironment, ...(total !== undefined && { total }) };
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
