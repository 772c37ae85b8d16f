import { MrlmError, type OpenPolicy, type PolicyEpisode, type PolicySource } from "@mrlm/spec";
import type { Player } from "@mrlm/spec/host";
import { checkedPolicy, type PolicyGuard, thrownBy } from "../host/checked-policy.ts";
import { Countdown } from "../host/countdown.ts";
import { FATAL } from "../rollouts/fatal-codes.ts";

/** Longest call of a policy without a limit of its own. */
const TIMEOUT_MS = 60_000;

/** Policy of a plugin that asks the endpoint of a player. */
export const ENDPOINT_POLICY = "openai@1";

/** Returns the name of a model of an endpoint in records: `gpt-4o@api.openai.com`. */
export function endpointName(endpoint: string, model: string): string {
  const { host, pathname } = new URL(endpoint);
  const path = pathname.replace(/\/+$/, "");
  return `${model}@${host}${path === "/v1" ? "" : path}`;
}

/** Whether the name of a scripted policy is that of a plugin's policy: it has a version. */
export function isOutside(name: string): boolean {
  return name.includes("@");
}

/**
 * Returns the player of a plugin's policy.
 * @param id `openai@1`
 * @param options as the schema of the source returned them
 */
export function outsidePlayer(
  id: string,
  source: PolicySource<unknown>,
  options: unknown,
  name = id,
): Player & { readonly kind: "scripted" | "endpoint" } {
  return {
    kind: source.kind ?? "scripted",
    name,
    isOutside: true,
    open: (episode) => openPolicy(id, source, options, episode),
  };
}

async function openPolicy(
  id: string,
  source: PolicySource<unknown>,
  options: unknown,
  episode: PolicyEpisode,
): Promise<OpenPolicy> {
  const failed: PolicyGuard["failed"] = (fault, cause) =>
    new MrlmError("PLAYER_FAILED", `Policy ${id} ${fault}.`, cause === undefined ? {} : { cause });
  const { timeoutMs = TIMEOUT_MS } = source;
  const run: PolicyGuard["run"] = (signal, work) =>
    withDeadline(timeoutMs, signal, () => failed(`took longer than ${timeoutMs} ms`), work).catch((error: unknown) => {
      // An error of one player does not concern the run.
      throw !signal.aborted && MrlmError.hasCode(error, ...FATAL)
        ? failed(`failed with ${error.code}: ${error.message}`, error)
        : error;
    });
  const policy = await run(episode.signal, (signal) => source.open({ ...episode, signal }, options)).catch(
    (error: unknown) => {
      throw thrownBy("open", error, failed);
    },
  );
  return checkedPolicy(policy, { failed, run });
}

/** Rejects at the deadline, or when the caller aborts. In both cases the signal of the work is aborted, and its later results are ignored. */
async function withDeadline<T>(
  timeoutMs: number,
  caller: AbortSignal,
  late: () => MrlmError,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stopped.catch(() => undefined);
  const stop = (error: MrlmError): void => {
    reject(error);
    controller.abort(error);
  };
  const onAbort = (): void =>
    stop(new MrlmError("CANCELLED", "The turn of a policy was given up.", { cause: caller.reason }));
  if (caller.aborted) onAbort();
  caller.addEventListener("abort", onAbort, { once: true });
  const countdown = new Countdown(timeoutMs, () => stop(late()));
  try {
    if (controller.signal.aborted) return await stopped;
    return await Promise.race([(async () => work(controller.signal))(), stopped]);
  } finally {
    countdown.stop();
    caller.removeEventListener("abort", onAbort);
  }
}
