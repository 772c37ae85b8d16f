import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { randomStream } from "@mrlm/kit";
import { STORE_FILE } from "@mrlm/store";
import { freePort } from "../../../benchmarks/ports/free-port.ts";
import { Mrlm } from "../../e2e/support/mrlm.ts";
import { type Outcome, outcomeOf } from "../../e2e/support/outcome.ts";
import { TINY, writeConfig } from "../../e2e/support/tiny-run.ts";
import { callsOf, leaveAlone } from "../../resume/support/kill-often.ts";
import { differenceOf } from "../../resume/support/engine-calls.ts";
import { grpoAhead, WARM } from "../../resume/support/scenarios.ts";
import { auditStore } from "./audit-store.ts";
import { type PlannedSignal, planSignals } from "./planned-signals.ts";
import { killRun } from "./killed-run.ts";

export const MODES = ["pipelined", "async"] as const;
export type KilledMode = (typeof MODES)[number];

/** Result of the runs of one mode that were killed. */
export interface KillResult {
  readonly signals: readonly PlannedSignal[];
  readonly runs: number;
  /** Groups in two batches, lost groups, and other differences, in words. */
  readonly twice: readonly string[];
  readonly lost: readonly string[];
  readonly differences: readonly string[];
  /** Ends of processes that no signal explains. */
  readonly faults: readonly string[];
  /** Cohorts of which a second commit was refused. */
  readonly late: number;
  readonly replay: { readonly steps: number; readonly equal: number; readonly mismatches: number };
}

export interface KillOptions {
  /** Empty directory for the runs. */
  readonly directory: string;
  readonly kills: number;
  readonly seed: number;
  readonly steps?: number;
  print?(text: string): void;
}

const GROUP_SIZE = 4;
/** Longest time between two signals, as a share of the time of a start: a run continues between those that end it. */
const GAP = 0.35;

/** Model that the runs begin with. */
export interface WarmModel {
  readonly path: string;
  /** Time in which this machine starts a training process and its engine. */
  readonly startMs: number;
}

export async function warmModel(directory: string): Promise<WarmModel> {
  const warm = await leaveAlone(writeConfig(directory, WARM, "warm.yaml"), join(directory, "warm"));
  const path = join(directory, "model");
  renameSync(join(warm.directory, "model"), path);
  return { path, startMs: warm.startMs };
}

/**
 * Kills processes of runs of a mode until there were as many kills as asked for, and checks each run when it has finished. Half of the kills are in runs
 * with a sampler that joins by `mrlm sample`, half in runs with one of `engine.samplers`.
 */
export async function killProcesses(
  mode: KilledMode,
  { path: model, startMs }: WarmModel,
  { directory, kills, seed, steps = 120, print = () => undefined }: KillOptions,
): Promise<KillResult> {
  const place = join(directory, mode);
  mkdirSync(place);
  const { config } = grpoAhead(model, steps);
  const play = mode === "pipelined" ? { mode, lag: 1, cohorts: 4 } : { mode, lag: 4 };
  const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const kept = { ...config, play, store: { keep_tokens: steps } };
  const served = { ...kept, server: { address: addresses } };
  const joined = writeConfig(place, served, "joined-sampler.yaml");
  const own = writeConfig(place, { ...served, engine: { ...TINY.engine, samplers: 1 } }, "own-sampler.yaml");
  const tokenFile = join(place, "token");
  writeFileSync(tokenFile, "a-token-of-the-store-server\n", { mode: 0o600 });
  const alone =
    mode === "pipelined" ? await leaveAlone(writeConfig(place, kept, "alone.yaml"), join(place, "alone")) : undefined;
  const random = randomStream(`kills of ${mode}`, seed);
  const next = (): number => random.next();
  const result = { signals: [] as PlannedSignal[], runs: 0, late: 0 };
  const found = { twice: [] as string[], lost: [] as string[], differences: [] as string[], faults: [] as string[] };
  const replay = { steps: 0, equal: 0, mismatches: 0 };
  /** Kills processes of one run until it has finished, and checks it. */
  const killOne = async (joinsSampler: boolean, signals: PlannedSignal[]): Promise<void> => {
    const output = join(place, String(result.runs));
    const run = await killRun({
      config: joinsSampler ? joined : own,
      output,
      addresses,
      storePort: await freePort(),
      tokenFile,
      joinsSampler,
      signals,
      gapMs: startMs * GAP,
      random: next,
    });
    const database = new DatabaseSync(join(run.directory, STORE_FILE), { readOnly: true });
    const audit = auditStore(database, steps, GROUP_SIZE);
    database.close();
    const replayed = await replayRun(run.directory);
    await run.end();
    result.runs++;
    result.late += audit.late;
    if (audit.oldest > play.lag)
      found.lost.push(`R4: a token of age ${audit.oldest} was learnt from; the lag is ${play.lag}`);
    result.signals.push(...run.signals);
    found.twice.push(...audit.twice);
    found.lost.push(...audit.lost);
    found.faults.push(...run.faults, ...replayed.faults);
    if (alone !== undefined) {
      const difference = differenceOf(callsOf(output), alone.calls);
      if (difference !== undefined) found.differences.push(difference);
      found.differences.push(...differencesOf(outcomeOf(run.directory), alone.outcome));
    }
    replay.steps += replayed.steps;
    replay.equal += replayed.equal;
    replay.mismatches += replayed.mismatches;
    for (const fault of run.faults) print(fault);
    print(
      `${mode}, run ${result.runs}: ${describeSignals(run.signals)}; ${audit.twice.length} groups in two batches, ${audit.lost.length} lost, ${audit.late} late; ${replayed.steps} steps replayed, ${replayed.mismatches} mismatches; ${run.faults.length} unexplained ends`,
    );
  };
  for (const joinsSampler of [true, false]) {
    const signals = planSignals(Math.ceil(kills / 2), next);
    // A run may finish before all signals were sent.
    while (signals.length > 0) await killOne(joinsSampler, signals);
  }
  return { ...result, ...found, replay };
}

/** Numbers of signals by kind. */
export function describeSignals(signals: readonly PlannedSignal[]): string {
  const counts = (signal: PlannedSignal["signal"]): string => {
    const kinds = signals.flatMap((one) => (one.signal === signal ? one.kind : []));
    const each = [...new Set(kinds)].sort().map((kind) => `${kinds.filter((other) => other === kind).length} ${kind}`);
    return `${kinds.length} (${each.join(", ")})`;
  };
  return `${counts("SIGKILL")} killed, ${counts("SIGSTOP")} stopped`;
}

/** Learns again from all batches of a run. */
async function replayRun(directory: string): Promise<{
  readonly steps: number;
  readonly equal: number;
  readonly mismatches: number;
  readonly faults: readonly string[];
}> {
  const { code, events, stderr } = await new Mrlm(["replay", "--json", directory, "--from", "start"]).finished;
  const result = events.find(({ event }) => event === "replay");
  const isMismatch = events.some(({ event, code: error }) => event === "error" && error === "REPLAY_DIFFERS");
  const steps = events.filter(({ event }) => event === "replayed").length;
  return {
    steps,
    equal: Number(result?.["equal"] ?? 0),
    mismatches: Number(isMismatch) + Number(result?.["missed"] ?? 0) + Number(result?.["unrecorded"] ?? 0),
    faults: code === 0 || isMismatch ? [] : [`mrlm replay ended with ${code}:\n${stderr.slice(-2_000)}`],
  };
}

/** Episodes are read in the order in which they were committed, which follows from the speed of the processes. */
function differencesOf(actual: Outcome, expected: Outcome): string[] {
  const sorted = ({ episodes }: Outcome): string[] => episodes.map((episode) => JSON.stringify(episode)).sort();
  const parts = {
    weights: [actual.weights, expected.weights],
    metrics: [JSON.stringify(actual.metrics), JSON.stringify(expected.metrics)],
    episodes: [JSON.stringify(sorted(actual)), JSON.stringify(sorted(expected))],
  } as const;
  return Object.entries(parts).flatMap(([name, [one, other]]) =>
    one === other ? [] : [`The ${name} differ from those of the undisturbed run.`],
  );
}
