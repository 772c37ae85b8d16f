import type { Logger } from "@mrlm/spec";
import { type EpisodeStore, type Member, MEMBER_LOST_MS } from "@mrlm/spec/host";

/** Time between two heartbeats, in milliseconds. */
const HEARTBEAT_MS = 5_000;

/** A member without the times that a store sets. */
export type NewMember = Omit<Member, "startedAt" | "heartbeatAt">;

/** Returns the members that live now: this process, or servers that answer it. Called for each heartbeat. */
export type MemberSource = () => Promise<readonly NewMember[]>;

/** Options of {@link joinRun}. */
export interface MembershipOptions {
  readonly logger: Logger;
  /** Removes the members of an earlier training process, and lost ones: the caller holds the run's lock. */
  readonly replaces?: boolean;
  /** Called between heartbeats, such as `workerReports`. */
  readonly report?: () => Promise<void>;
  /** Default: 5 seconds. */
  readonly intervalMs?: number;
}

/** Members that a process adds to a run. */
export interface Membership {
  /** Ends the heartbeats and removes the members. */
  leave(): Promise<void>;
}

/**
 * Adds members to a run and renews their heartbeats. An error of the store is logged once, and later heartbeats are tried all the same: the list of
 * members decides nothing about the run.
 */
export async function joinRun(
  store: Pick<EpisodeStore, "join" | "leave" | "members">,
  sources: readonly MemberSource[],
  { logger, replaces = false, report, intervalMs = HEARTBEAT_MS }: MembershipOptions,
): Promise<Membership> {
  const joined = new Set<string>();
  const running = new Set<Promise<void>>();
  let isLeaving = false;
  let isReported = false;
  const tried = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (isReported) return;
      isReported = true;
      logger.warn(`The list of members of the run could not be written: ${(error as Error).message}`);
    }
  };
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    if (isLeaving) return;
    const done = tried(work);
    running.add(done);
    await done;
    running.delete(done);
  };
  const beat = async (source: MemberSource): Promise<void> => {
    // A server that does not answer shows the age of its last heartbeat.
    const members = await source().catch(() => []);
    if (isLeaving) return;
    for (const { id } of members) joined.add(id);
    await run(() => Promise.all(members.map((member) => store.join(member))));
  };
  if (replaces) await tried(() => removeReplaced(store));
  await Promise.all(sources.map(beat));
  if (replaces) await tried(() => removeLost(store, joined));
  // A source that waits for its server delays no other one.
  const work = sources.map((source) => () => beat(source));
  if (report !== undefined) work.push(() => run(report));
  const timers = work.map((each) => {
    let isBusy = false;
    return setInterval(() => {
      if (isBusy) return;
      isBusy = true;
      void each().finally(() => (isBusy = false));
    }, intervalMs).unref();
  });
  return {
    async leave() {
      isLeaving = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
      for (const id of joined) await tried(() => store.leave(id));
    },
  };
}

/** Kinds that a training process reports: itself, and what it trains and samples with. */
const OF_TRAINING: ReadonlySet<Member["kind"]> = new Set(["training", "engine", "sampler"]);

/** Removes what an earlier training process reported: a run has one. */
async function removeReplaced(store: Pick<EpisodeStore, "leave" | "members">): Promise<void> {
  for (const { id, kind } of await store.members()) if (OF_TRAINING.has(kind)) await store.leave(id);
}

/** @param own members that have just joined: their heartbeats are the time of the store */
async function removeLost(store: Pick<EpisodeStore, "leave" | "members">, own: ReadonlySet<string>): Promise<void> {
  const members = await store.members();
  const now = Math.max(...members.filter(({ id }) => own.has(id)).map(({ heartbeatAt }) => heartbeatAt));
  for (const { id, heartbeatAt } of members) if (now - heartbeatAt > MEMBER_LOST_MS) await store.leave(id);
}
