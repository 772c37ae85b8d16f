import type { JsonValue } from "@mrlm/spec";
import { MEMBER_LOST_MS } from "@mrlm/spec/host";
import type { RunWorkers, StoredLease, StoredMember } from "@mrlm/store";
import { metricRows } from "./metric-rows.ts";
import { withEpisodes } from "./run-episodes.ts";

/** Process that takes part in a run. */
export interface ShownMember extends Omit<StoredMember, "capabilities"> {
  /** `null` where they are damaged or too long. */
  readonly capabilities: JsonValue;
  /** `lost`: no heartbeat for 30 seconds. */
  readonly state: "alive" | "lost";
}

/** Seconds of waiting by step: `wait/training`, `wait/rollouts`. */
export interface WaitSeries {
  readonly name: string;
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

/** Processes of a run, what they hold, and how long they wait for each other. */
export interface WorkersDetail extends Omit<RunWorkers, "members" | "leases"> {
  readonly members: readonly ShownMember[];
  readonly leases: readonly (StoredLease & { readonly isExpired: boolean })[];
  readonly waits: readonly WaitSeries[];
}

/** Iterations whose waits are shown. */
const ITERATIONS = 500;

/** Reads the members of a run and what they do. Throws as the store does. */
export function runWorkers(path: string): WorkersDetail {
  const { now, members, leases, ...rest } = withEpisodes(path, (reader) => reader.workers()) ?? none();
  return {
    now,
    ...rest,
    members: members.map((member) => ({
      ...member,
      capabilities: parsed(member.capabilities),
      state: now - member.heartbeatAt > MEMBER_LOST_MS ? "lost" : "alive",
    })),
    leases: leases.map((lease) => ({ ...lease, isExpired: lease.until <= now })),
    waits: waitsOf(path),
  };
}

function none(): RunWorkers {
  const counts = { memberCount: 0, leaseCount: 0, staleness: { batches: 0, ages: [] } };
  return { now: Date.now(), members: [], leases: [], buffers: [], ...counts };
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

function waitsOf(path: string): WaitSeries[] {
  const series = new Map<string, { name: string; steps: number[]; values: number[] }>();
  const iterations = metricRows(path).filter(({ kind }) => kind === "iteration");
  for (const { step, metrics } of iterations.slice(-ITERATIONS))
    for (const [name, value] of Object.entries(metrics ?? {})) {
      if (typeof value !== "number" || !/(^|\/)wait\//.test(name)) continue;
      let found = series.get(name);
      if (found === undefined) series.set(name, (found = { name, steps: [], values: [] }));
      found.steps.push(step);
      found.values.push(value);
    }
  return [...series.values()];
}
