import { defined, type JsonValue, MrlmError, type Task, type TaskSource } from "@mrlm/spec";
import { z } from "zod";
import { assertTaskIndex } from "../generated-tasks.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import type { HttpClient } from "./http-client.ts";
import { readShape } from "./read-shape.ts";

/** Task on the server: a place in its catalogue, or a seed of its reset. */
export type TaskPlace = { readonly split: string; readonly index: number } | { readonly seed: number };

/** Tasks of a server. */
export interface Catalogue {
  readonly tasks: TaskSource;
  /** Whether the server has a catalogue: otherwise the tasks are seeds. */
  readonly isListed: boolean;
  /** Name of the environment on the server, where the server lists its environments. */
  readonly environment: string | undefined;
}

const NAMES = z.array(z.string());
const SPLITS = z.array(z.looseObject({ name: z.string(), type: z.string() }));
const COUNT = z.looseObject({ num_tasks: z.int().min(0) });
/** Statuses of a server without these routes. */
const ABSENT = [404, 405, 501];

/**
 * Reads the catalogue of a server: `/list_environments`, then `/ENVIRONMENT/splits` and `/ENVIRONMENT/num_tasks`. Below a URL with a path the routes are
 * those of one environment. Where the server has no catalogue, the tasks are seeds. Rejects with the errors of the client.
 */
export async function catalogueOf(client: HttpClient, options: BridgeOptions, signal: AbortSignal): Promise<Catalogue> {
  const read = (path: string, body?: JsonValue): Promise<unknown> =>
    optional(client, path, { signal, ...defined({ body }) });
  const hasPath = new URL(client.url).pathname !== "/";
  let environment = options.environment;
  if (environment === undefined && !hasPath) {
    const listed = await read("/list_environments");
    if (listed !== undefined) [environment] = readShape(NAMES, listed, "The list of environments");
  }
  const base = environment === undefined ? "" : `/${pathOf(environment)}`;
  const found = await read(`${base}/splits`);
  if (found === undefined) return { tasks: seedTasks(options), isListed: false, environment };
  const splits = readShape(SPLITS, found, "The list of splits");
  const names = chosen(splits, options);
  const counts: Record<string, number> = {};
  for (const [name, split] of Object.entries(names)) {
    if (split === undefined) counts[name] = 0;
    else {
      const answer = await read(`${base}/num_tasks`, { split });
      if (answer === undefined)
        throw new MrlmError("BRIDGE_REFUSED", `The server has the split "${split}" and no number of its tasks.`);
      counts[name] = readShape(COUNT, answer, `The number of tasks of the split "${split}"`).num_tasks;
    }
  }
  return { tasks: listedOn(names, counts), isListed: true, environment };
}

/** Returns the place of a task on the server. */
export function taskPlace({ public: shown }: Task): TaskPlace {
  return shown as TaskPlace;
}

/** Returns a name as a part of a path. */
export function pathOf(name: string): string {
  return encodeURIComponent(name).replaceAll("%40", "@");
}

/** Returns the answer; `undefined` if the server does not have the route. */
async function optional(
  client: HttpClient,
  path: string,
  { body, signal }: { readonly body?: JsonValue; readonly signal: AbortSignal },
): Promise<unknown> {
  const request = {
    path,
    signal,
    ...(body === undefined ? { method: "GET" as const } : { method: "POST" as const, body }),
  };
  const response = await client.send(request);
  if (ABSENT.includes(response.status)) {
    await client.text(response, signal);
    return undefined;
  }
  return client.read(response, request);
}

/** Returns the splits of the server by our names: `train` and `eval`, and its others under their own. */
function chosen(splits: z.output<typeof SPLITS>, options: BridgeOptions): Record<string, string | undefined> {
  const { train: wantedTrain, eval: wantedEval } = options.splits;
  for (const wanted of [wantedTrain, wantedEval])
    if (wanted !== undefined && !splits.some(({ name }) => name === wanted))
      throw new MrlmError(
        "BRIDGE_REFUSED",
        `The server has no split "${wanted}". It has: ${splits.map(({ name }) => name).join(", ") || "none"}.`,
        { hint: "Correct the option `splits`." },
      );
  const find = (used: string | undefined, ...rules: ((split: { name: string; type: string }) => boolean)[]) =>
    rules
      .map((rule) => splits.find((split) => split.name !== used && rule(split))?.name)
      .find((name) => name !== undefined);
  const train =
    wantedTrain ??
    find(
      wantedEval,
      ({ name }) => name === "train",
      ({ type }) => type === "train",
    );
  const evaluation =
    wantedEval ??
    find(
      train,
      ({ name }) => name === "eval",
      ({ type }) => type === "test",
      ({ type }) => type === "validation",
    );
  const others = splits.filter(
    ({ name }) => name !== train && name !== evaluation && name !== "train" && name !== "eval",
  );
  return { train, eval: evaluation, ...Object.fromEntries(others.map(({ name }) => [name, name])) };
}

function listedOn(
  names: Readonly<Record<string, string | undefined>>,
  splits: Readonly<Record<string, number>>,
): TaskSource {
  return {
    splits,
    async get(split, index) {
      assertTaskIndex(split, index, Object.hasOwn(splits, split) ? splits[split] : undefined);
      return { id: `${split}/${index}`, public: { split: names[split] as string, index }, private: {} };
    },
  };
}

/** Returns tasks that are seeds: those of `eval` follow those of `train`. */
function seedTasks({ seeds }: BridgeOptions): TaskSource {
  const splits: Readonly<Record<string, number>> = { train: seeds.train, eval: seeds.eval };
  return {
    splits,
    async get(split, index) {
      assertTaskIndex(split, index, Object.hasOwn(splits, split) ? splits[split] : undefined);
      const seed = split === "train" ? index : seeds.train + index;
      return { id: `${split}/${index}`, public: { seed }, private: {} };
    },
  };
}
