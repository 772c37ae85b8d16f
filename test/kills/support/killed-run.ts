import { setTimeout as sleep } from "node:timers/promises";
import { Mrlm } from "../../e2e/support/mrlm.ts";
import { begin, directoryIn } from "../../resume/support/kill-often.ts";
import type { PlannedSignal } from "./planned-signals.ts";
import { Part, type PartEnd } from "./part.ts";

/** A run with all kinds of processes. */
export interface KilledRunOptions {
  /** File of its configuration, whose `server.address` has the addresses. */
  readonly config: string;
  readonly output: string;
  readonly addresses: readonly string[];
  readonly storePort: number;
  readonly tokenFile: string;
  /** Whether a sampler joins by `mrlm sample`. */
  readonly joinsSampler: boolean;
  /** Signals that are sent, in a random order. Those that were sent are removed. */
  readonly signals: PlannedSignal[];
  /** Longest time between two signals, in milliseconds. */
  readonly gapMs: number;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/** A finished run, and what was done to it. */
export interface KilledRun {
  readonly directory: string;
  readonly signals: readonly PlannedSignal[];
  /** Ends of processes that no signal explains. */
  readonly faults: readonly string[];
  /** Ends the environment servers. */
  end(): Promise<void>;
}

/**
 * Trains with two rollout workers, one of them by a store server, with a sampler and environment servers, and sends signals until the run has finished.
 * Rejects where the run cannot be resumed.
 */
export async function killRun({ config, output, addresses, ...options }: KilledRunOptions): Promise<KilledRun> {
  const servers = addresses.map((address) => environmentServer(config, address));
  for (const server of servers) await server.ready();
  const training = trainingPart(config, output);
  const parts = [training, ...servers];
  try {
    await training.ready();
    const directory = directoryIn(output);
    if (directory === undefined) throw new Error(`The run did not begin:\n${training.faults.join("\n")}`);
    const store = storeServer(directory, options);
    parts.push(store);
    await store.ready();
    const places = [
      ["--run", directory],
      ["--store", `127.0.0.1:${options.storePort}`, "--token-file", options.tokenFile],
    ];
    const players = [...places.map(rolloutWorker), ...(options.joinsSampler ? [sampler(directory)] : [])];
    parts.push(...players);
    const signals = await sendSignals(parts, training.ended, options);
    if ((await training.ended) === undefined) throw new Error(`The run did not finish:\n${training.faults.join("\n")}`);
    // A process that is started again after the end of the run ends by itself.
    for (const { ended } of players) await ended;
    await store.end();
    return {
      directory,
      signals,
      faults: parts.flatMap(({ faults }) => faults),
      async end() {
        for (const server of servers) await server.end();
      },
    };
  } catch (error) {
    for (const part of parts) await part.end();
    throw error;
  }
}

/** Sends signals at random instants until none is left or the run has ended. Returns those that were sent. */
async function sendSignals(
  parts: readonly Part[],
  ended: Promise<unknown>,
  { signals, gapMs, random }: Pick<KilledRunOptions, "signals" | "gapMs" | "random">,
): Promise<PlannedSignal[]> {
  const sent: PlannedSignal[] = [];
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (signals.length > 0) {
    await Promise.race([sleep(gapMs * random()), ended]);
    if (isOver) break;
    const first = Math.floor(random() * signals.length);
    const order = [...signals.slice(first), ...signals.slice(0, first)];
    // Without other kills no process starts.
    const startsNone = signals.every(({ early }) => early !== undefined);
    const one = order.find(({ kind, signal, early }) =>
      shuffled(parts, random).some((part) =>
        part.send({ kind, signal, ...(early === undefined || startsNone ? {} : { early }) }, random),
      ),
    );
    if (one === undefined) continue;
    signals.splice(signals.indexOf(one), 1);
    sent.push(one);
  }
  return sent;
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
}

function trainingPart(config: string, output: string): Part {
  let starts = 0;
  return new Part({
    name: "mrlm train",
    start: () => begin(config, output, starts++),
    // A process that is killed again and again before its first iteration would never come further.
    ready: "iteration",
    processes: {
      training: ({ child }) => [child.pid],
      engine: (mrlm) => [mrlm.pids("engine").at(-1)],
      sampler: (mrlm) => [mrlm.pids("sampler").at(-1)],
    },
    survives: "sampler",
    isExpected: (end) =>
      end.killed === "training" ||
      (end.killed === "engine" && isOneOf(end, "ENGINE_EXITED", "ENGINE_START_FAILED")) ||
      isWithoutServers(end),
  });
}

function isOneOf({ error }: PartEnd, ...codes: string[]): boolean {
  return error !== undefined && codes.includes(error);
}

/** A command that meets no server when it starts ends, and states it. */
function isWithoutServers(end: PartEnd): boolean {
  return !end.wasReady && isOneOf(end, "SERVER_UNAVAILABLE", "STORE_UNAVAILABLE");
}

function environmentServer(config: string, address: string): Part {
  const [host, port] = address.split(":") as [string, string];
  return new Part({
    name: `mrlm serve at ${address}`,
    start: () => new Mrlm(["serve", "--json", "--config", config, "--host", host, "--port", port, "--demonstrations"]),
    ready: "listening",
    processes: { environments: ({ child }) => [child.pid] },
  });
}

function storeServer(run: string, { storePort, tokenFile }: Pick<KilledRunOptions, "storePort" | "tokenFile">): Part {
  const args = ["store", "serve", "--json", "--run", run, "--port", String(storePort), "--token-file", tokenFile];
  return new Part({
    name: "mrlm store serve",
    start: () => new Mrlm(args),
    ready: "listening",
    processes: { store: ({ child }) => [child.pid] },
  });
}

function rolloutWorker(place: readonly string[]): Part {
  return new Part({
    name: `mrlm play ${place[0]}`,
    start: () => new Mrlm(["play", "--json", ...place]),
    ready: "playing",
    processes: { rollouts: ({ child }) => [child.pid] },
    isExpected: (end) => end.killed !== undefined || isWithoutServers(end),
  });
}

function sampler(run: string): Part {
  return new Part({
    name: "mrlm sample",
    start: () => new Mrlm(["sample", "--json", "--run", run]),
    ready: "sampling",
    // The command, or the process of torch that it has started.
    processes: { sampler: (mrlm) => [mrlm.child.pid, mrlm.eventOf("sampling")?.["pid"] as number | undefined] },
  });
}
