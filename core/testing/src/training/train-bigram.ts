import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import {
  type AlgorithmDefinition,
  type Engine,
  type EnvironmentDefinition,
  type IterationReport,
  type JsonObject,
  MrlmError,
} from "@mrlm/spec";
import { LocalHost, openRun, parseConfig, PluginHost, prepareRun, type RunSummary, trainRun } from "@mrlm/runtime";
import { BigramEngine } from "../bigram/engine.ts";
import { lettersEnvironment } from "./letters-environment.ts";

/** A run to train. */
export interface BigramTraining {
  // Each has options of its own type.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly algorithms: readonly AlgorithmDefinition<any>[];
  /** {@link lettersEnvironment} unless given. */
  readonly environments?: readonly EnvironmentDefinition[];
  /** As in a configuration file: `[{ algorithm: "grpo", steps: 3 }]`. */
  readonly stages: readonly JsonObject[];
  /** Sections over the defaults: a seed, `sampling`, `model`, ... */
  readonly config?: JsonObject;
  readonly engine?: Engine;
  /** The directory of a run to continue. */
  readonly resume?: string;
}

/** What a run came to. */
export interface BigramOutcome {
  readonly summary: RunSummary;
  /** Each iteration's, without what only the clock decides. */
  readonly reports: readonly Omit<IterationReport, "seconds">[];
  readonly engine: Engine;
  /** The trained weights, byte for byte. */
  readonly weights: Buffer;
}

const DEFAULTS = {
  name: "test",
  seed: 7,
  model: { random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } } },
  sampling: { max_tokens: 8 },
  eval: { tasks: 0 },
  checkpoint: { every: 1, keep: 100 },
};

/** Trains a bigram model by the whole path of `mrlm train` but for the processes: configuration, stages, episodes, checkpoints. */
export async function trainBigram(training: BigramTraining): Promise<BigramOutcome> {
  const environments = training.environments ?? [lettersEnvironment()];
  const source = await PluginHost.of([definePlugin({ name: "test", environments, algorithms: training.algorithms })]);
  const host = new LocalHost({ source });
  const opened = training.resume === undefined ? undefined : await openRun(training.resume, () => undefined);
  const written = {
    ...DEFAULTS,
    output: mkdtempSync(join(tmpdir(), "mrlm-bigram-run-")),
    environments: environments.map(({ id }) => ({ id })),
    stages: training.stages,
    ...training.config,
  };
  const loaded = opened?.loaded ?? parseConfig(JSON.stringify(written), { path: join(written.output, "run.yaml") });
  const engine = training.engine ?? new BigramEngine();
  const reports: Omit<IterationReport, "seconds">[] = [];
  const summary = await trainRun({
    prepared: await prepareRun(loaded, { host, algorithms: source }),
    host,
    engine,
    ...(opened === undefined ? {} : { run: opened.run }),
    ...(opened?.checkpoint === undefined ? {} : { checkpoint: opened.checkpoint }),
    onEvent: (event) => {
      if (event.kind !== "iteration") return;
      const { seconds: _, ...report } = event.report;
      reports.push(report);
    },
  });
  return { summary, reports, engine, weights: readFileSync(join(summary.directory, "model", "weights.bin")) };
}

/** The same run, its engine killed at so many optimiser steps and the run then resumed with a new one. */
export async function trainBigramInterrupted(training: BigramTraining, dieAt: number): Promise<BigramOutcome> {
  const failure: unknown = await trainBigram({ ...training, engine: mortalEngine(dieAt) }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const directory = MrlmError.isInstance(failure) ? /--resume (\S+)/.exec(failure.hint)?.[1] : undefined;
  if (directory === undefined) throw new Error("The run did not die as it should have", { cause: failure });
  return trainBigram({ ...training, resume: directory });
}

function mortalEngine(dieAt: number): Engine {
  let steps = 0;
  return new Proxy<Engine>(new BigramEngine(), {
    get: (target, property: keyof Engine) =>
      property === "optimStep"
        ? (options: Parameters<Engine["optimStep"]>[0]) =>
            ++steps === dieAt
              ? Promise.reject(new MrlmError("ENGINE_EXITED", "The engine was killed."))
              : target.optimStep(options)
        : target[property].bind(target),
  });
}
