import type { Logger } from "@mrlm/spec";
import { type EpisodeStore, type Member, MEMBER_LOST_MS } from "@mrlm/spec/host";

/** Kinds of members that join and leave a run by themselves, with the words for them. The pool of samplers reports those. */
const REPORTED: Readonly<Partial<Record<Member["kind"], string>>> = {
  rollouts: "rollout worker",
  store: "store server",
};

/**
 * Returns a function that logs which workers have joined the run, left it, or sent no heartbeat for a time since its last call.
 * @param self id of a member of this process: its last heartbeat is the time of the store
 */
export function workerReports(store: Pick<EpisodeStore, "members">, self: string, logger: Logger): () => Promise<void> {
  const known = new Map<string, { readonly what: string; readonly isLost: boolean }>();
  return async () => {
    const members = await store.members();
    const now = members.find(({ id }) => id === self)?.heartbeatAt ?? 0;
    for (const { id, kind, heartbeatAt } of members) {
      const word = REPORTED[kind];
      if (word === undefined) continue;
      const what = `${word} ${id}`;
      const isLost = now - heartbeatAt > MEMBER_LOST_MS;
      const before = known.get(id);
      known.set(id, { what, isLost });
      if (before?.isLost === isLost) continue;
      if (!isLost) logger.info(`${what} ${before === undefined ? "has joined" : "sends heartbeats again"}`);
      else logger.warn(`${what} has sent no heartbeat for ${MEMBER_LOST_MS / 1000} s`);
    }
    const ids = new Set(members.map(({ id }) => id));
    for (const [id, { what, isLost }] of known) {
      if (ids.has(id)) continue;
      known.delete(id);
      if (!isLost) logger.info(`${what} has left`);
    }
  };
}
