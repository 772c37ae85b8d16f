import type { environmentProto as wire } from "@mrlm/wire";

/** Limit of servers that state none. */
const UNSTATED = 4096;

/** Use of one server, from its latest description. */
export class ServerLoad {
  /** Time at which the description arrived, in milliseconds of `performance.now()`. */
  readonly at = performance.now();
  readonly #response: wire.DescribeResponse;
  readonly #ownBefore: number;
  /** Limits and use by environment id. */
  readonly #environments: Map<string, Pick<wire.EnvironmentDescription, "maxSessions" | "use">>;

  /**
   * @param requested id of the described environment; `undefined` if every environment is described
   * @param ownBefore sessions of this client on the server when it requested the description
   */
  constructor(
    response: wire.DescribeResponse,
    requested: string | undefined,
    ownBefore: number,
    earlier: ServerLoad | undefined,
  ) {
    this.#response = response;
    this.#ownBefore = ownBefore;
    const isSameProcess = earlier?.instanceId === response.instanceId;
    this.#environments = new Map(isSameProcess ? earlier.#environments : []);
    for (const { id, maxSessions, use } of response.environments)
      this.#environments.set(requested ?? id, { maxSessions, use });
  }

  /** Identifies the server process. */
  get instanceId(): string {
    return this.#response.instanceId;
  }

  get isDraining(): boolean {
    return this.#response.isDraining;
  }

  /**
   * Returns the free part of the places for a session of an environment: 1 if all are free, 0 if none is, below 0 if resets wait.
   * @param own sessions of this client on the server now
   */
  freeShare(environment: string, own: number): number {
    const { limits, use } = this.#response;
    const since = own - this.#ownBefore;
    const share = (limit: number, used: wire.ServerUse | undefined): number =>
      (limit - (used === undefined ? own : used.sessions + used.queued + since)) / limit;
    const shares = [share(limits?.sessions || UNSTATED, use)];
    if (limits !== undefined && limits.sessionsPerClient > 0) shares.push(1 - own / limits.sessionsPerClient);
    const of = this.#environments.get(environment);
    if (of !== undefined && of.maxSessions > 0) shares.push(share(of.maxSessions, of.use));
    return Math.min(...shares);
  }
}
