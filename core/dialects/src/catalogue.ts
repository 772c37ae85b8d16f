import { randomBytes } from "node:crypto";
import type { SessionTable } from "@mrlm/server/sessions";
import { defined, MrlmError, type TaskId, type ToolDefinition } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { requireOneAgent } from "./one-agent.ts";
import { SUBMIT } from "./submit.ts";

/** Split of the tasks of an environment. */
export interface Split {
  readonly name: string;
  readonly type: "train" | "validation" | "test";
}

/** Task as clients get it and send it back. It has no content: that is the first observation of its episode. */
export interface ListedTask {
  /** Absent where the environment has no tasks. */
  readonly id?: TaskId;
  readonly split: string;
  readonly index: number;
}

/** Tasks in one answer. Clients of larger splits ask for ranges. */
const MAX_LISTED = 100_000;
/** Environments without tasks have one task in the catalogue, so that clients which begin with a task can play them. */
const TASKLESS = { train: 1 };
/** Owner of the sessions in which tools are read. */
const OWNER = "catalogue";

/** Tasks and tools of the environments of a server. */
export class Catalogue {
  readonly #host: EnvironmentHost;
  readonly #sessions: SessionTable;
  readonly #tools = new Map<string, Promise<readonly ToolDefinition[]>>();

  constructor(host: EnvironmentHost, sessions: SessionTable) {
    this.#host = host;
    this.#sessions = sessions;
  }

  /** Returns the splits. Rejects with ENVIRONMENT_NOT_FOUND. */
  async splits(environment: string): Promise<Split[]> {
    return Object.keys(await this.#counts(environment)).map((name) => ({ name, type: typeOf(name) }));
  }

  /** Returns the number of tasks. Rejects with TASK_NOT_FOUND for an unknown split, and as `splits`. */
  async count(environment: string, split: string): Promise<number> {
    const counts = await this.#counts(environment);
    const count = Object.hasOwn(counts, split) ? counts[split] : undefined;
    if (count !== undefined) return count;
    throw notFound(
      `Environment ${environment} has no split ${shown(split)}. It has: ${Object.keys(counts).join(", ")}.`,
    );
  }

  /** Returns a task. Rejects with TASK_NOT_FOUND, and as `splits`. */
  async task(environment: string, split: string, index: number): Promise<ListedTask> {
    const count = await this.count(environment, split);
    if (!Number.isSafeInteger(index) || index < 0 || index >= count)
      throw notFound(`Split ${shown(split)} of ${environment} has no task ${index}: it has ${count}, from 0 on.`);
    const { splits } = await this.#host.describe({ id: environment });
    return { ...(Object.hasOwn(splits, split) && { id: `${split}/${index}` as const }), split, index };
  }

  /** Returns the tasks of a slice with the rules of Python: negative positions count from the end. Rejects as `task`, also for too long a slice. */
  async range(environment: string, split: string, start = 0, stop = Number.POSITIVE_INFINITY): Promise<ListedTask[]> {
    const count = await this.count(environment, split);
    const position = (at: number): number => Math.min(Math.max(at < 0 ? at + count : at, 0), count);
    const [from, to] = [position(start), position(stop)];
    if (to - from > MAX_LISTED)
      throw notFound(
        `The slice has ${to - from} tasks, and one answer up to ${MAX_LISTED}. Ask for parts of it (task_range).`,
      );
    if (to <= from) return [];
    const { id } = await this.task(environment, split, from);
    return Array.from({ length: to - from }, (_, i) => {
      const index = from + i;
      return { ...(id !== undefined && { id: `${split}/${index}` as const }), split, index };
    });
  }

  /** Returns the tools of an environment as its first task has them, and `submit`. They are read in an episode of their own, once. Rejects as a reset does, and with ROLES_UNSUPPORTED. */
  tools(environment: string): Promise<readonly ToolDefinition[]> {
    let tools = this.#tools.get(environment);
    if (tools === undefined) {
      tools = this.#readTools(environment);
      this.#tools.set(environment, tools);
      tools.catch(() => this.#tools.delete(environment));
    }
    return tools;
  }

  async #readTools(environment: string): Promise<readonly ToolDefinition[]> {
    requireOneAgent(await this.#host.describe({ id: environment }), "this protocol");
    const [split = ""] = Object.keys(await this.#counts(environment));
    const { id } = await this.task(environment, split, 0);
    const sessionId = randomBytes(16);
    const operation = this.#sessions
      .reset(OWNER, { sessionId, epoch: 1, environment: { id: environment }, ...defined({ task: id }) })
      .join();
    try {
      const { observation } = await operation.promise;
      return [...(observation.tools ?? []), SUBMIT];
    } finally {
      operation.leave();
      await this.#sessions.close(OWNER, sessionId);
    }
  }

  async #counts(environment: string): Promise<Readonly<Record<string, number>>> {
    const { splits } = await this.#host.describe({ id: environment });
    return Object.keys(splits).length === 0 ? TASKLESS : splits;
  }
}

function typeOf(split: string): Split["type"] {
  return split === "train" || split === "test" ? split : "validation";
}

function notFound(message: string): MrlmError {
  return new MrlmError("TASK_NOT_FOUND", message);
}

function shown(split: string): string {
  return JSON.stringify(split.slice(0, 100));
}
