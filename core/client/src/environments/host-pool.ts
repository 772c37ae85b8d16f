import {
  type Demonstration,
  type EnvironmentDescription,
  type EnvironmentHost,
  type EnvironmentRef,
  MrlmError,
  type TaskId,
} from "@mrlm/spec";
import type { RemoteEnvironment } from "./remote-environment.ts";
import type { RemoteHost } from "./remote-host.ts";

/** Several servers as one host. A session goes to the server with the fewest sessions, among those that offer its environment and can be reached. */
export class HostPool implements EnvironmentHost {
  readonly #hosts: readonly RemoteHost[];

  constructor(hosts: readonly RemoteHost[]) {
    this.#hosts = hosts;
  }

  async list(): Promise<readonly EnvironmentDescription[]> {
    const lists = await Promise.all(this.#hosts.map((host) => host.list()));
    const byId = new Map(
      lists
        .flat()
        .toReversed()
        .map((description) => [description.id, description]),
    );
    return [...byId.values()].toReversed();
  }

  describe(environment: EnvironmentRef): Promise<EnvironmentDescription> {
    return this.#first((host) => host.describe(environment));
  }

  open(environment: EnvironmentRef): Promise<RemoteEnvironment> {
    return this.#first((host) => host.open(environment));
  }

  demonstrate(environment: EnvironmentRef, tasks: readonly TaskId[]): Promise<readonly Demonstration[]> {
    return this.#first((host) => host.demonstrate(environment, tasks));
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
  }

  /** Calls the servers in turn, the least loaded first, until one offers the environment. */
  async #first<T>(call: (host: RemoteHost) => Promise<T>): Promise<T> {
    let refusal: unknown;
    for (const host of this.#hosts.toSorted(
      (a, b) => Number(a.isAvoided) - Number(b.isAvoided) || a.sessions - b.sessions,
    )) {
      try {
        return await call(host);
      } catch (error) {
        if (!MrlmError.hasCode(error, "ENVIRONMENT_NOT_FOUND", "SERVER_UNAVAILABLE")) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }
}
