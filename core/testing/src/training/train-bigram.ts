import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import {
  type AlgorithmDefinition,
  defined,
  type EnvironmentDefinition,
  type IterationReport,
  type JsonObject,
  type Logger,
  MrlmError,
  type Plugin,
  type TrajectoryGroup,
} from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import {
  LocalHost,
  openRun,
  openWatch,
  parseConfig,
  PluginHost,
  prepareRun,
  type RunSummary,
  type TrainOptions,
  trainRun,
} from "@mrlm/runtime";
import { openLocalStore } from "@mrlm/store";
import { BigramEngine } from "../bigram/engine.ts";
import { lettersEnvironment } from "./letters-environment.ts";

/** Run to train. */
export interface BigramTraining {
  // Each algorithm has options of another type.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly algorithms: readonly AlgorithmDefinition<any>[];
  /** Default {@link lettersEnvironment}. */
  readonly environments?: readonly EnvironmentDefinition[];
  /** Toolsets that the environments require, by versioned id. */
  readonly tools?: NonNullable<Plugin["tools"]>;
  /** Further plugins. */
  readonly plugins?: readonly Plugin[];
  /** The form of a configuration file: `[{ algorithm: "grpo", steps: 3 }]`. */
  readonly stages: readonly JsonObject[];
  /** Sections that replace defaults: a seed, `sampling`, `model`, ... */
  readonly config?: JsonObject;
  readonly engine?: Engine;
  readonly logger?: Logger;
  /** Deadline of the watch of environments. */
  readonly watchMs?: number;
  /** Default: a store in this thread, without the start of another one. */
  readonly openStore?: NonNullable<TrainOptions["openStore"]>;
  /** Directory of a run to resume. */
  readonly resume?: string;
}

/** Result of a run. */
export interface BigramOutcome {
  readonly summary: RunSummary;
  /** Metrics of each iteration without times. */
  readonly reports: readonly Omit<IterationReport, "seconds">[];
  /** Groups of the batch that each iteration took. */
  readonly played: readonly (readonly TrajectoryGroup[])[];
  readonly notices: readonly string[];
  readonly engine: Engine;
  /** Bytes of the trained weights; of several policies one after the other. */
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

/**
 * Trains a bigram model in this process by the code of `mrlm train`: configuration, stages, episodes, checkpoints. The run stays in the folder `config.output`,
 * by default a new temporary one.
 */
export async function trainBigram(training: BigramTraining): Promise<BigramOutcome> {
  const environments = training.environments ?? [lettersEnvironment()];
  const { algorithms, tools } = training;
  const plugins = [
    definePlugin({ name: "test", environments, algorithms, ...defined({ tools }) }),
    ...(training.plugins ?? []),
  ];
  const source = await PluginHost.of(plugins);
  const host = new LocalHost({ source });
  const opened = training.resume === undefined ? undefined : await openRun(training.resume, () => undefined);
  const loaded = opened?.loaded ?? configOf(training, environments);
  const engine = training.engine ?? new BigramEngine();
  const prepared = await prepareRun(loaded, { host, algorithms: source });
  const watched = await PluginHost.of(plugins);
  const watch = await openWatch(loaded, prepared, watched, defined({ deadlineMs: training.watchMs }));
  const reports: Omit<IterationReport, "seconds">[] = [];
  const played: (readonly TrajectoryGroup[])[] = [];
  const notices: string[] = [];
  const summary = await trainRun({
    prepared,
    host,
    engine,
    ...defined({ watch, logger: training.logger }),
    openStore: training.openStore ?? openLocalStore,
    ...(opened === undefined ? {} : { run: opened.run }),
    ...(opened?.checkpoint === undefined ? {} : { checkpoint: opened.checkpoint }),
    onEvent: (event) => {
      if (event.kind === "notice") notices.push(event.text);
      if (event.kind !== "iteration") return;
      const { seconds: _, ...report } = event.report;
      reports.push(report);
      played.push(event.played);
    },
  });
  await host.close();
  await watch?.close();
  const weightsOf = (policy?: string): Buffer =>
    readFileSync(join(summary.model as string, ...(policy === undefined ? [] : [policy]), "weights.bin"));
  const policies = Object.keys(loaded.config.policies);
  const weights = policies.length === 1 ? weightsOf() : Buffer.concat(policies.map(weightsOf));
  return { summary, reports, played, notices, engine, weights };
}

function configOf(
  { stages, config = {} }: BigramTraining,
  environments: readonly EnvironmentDefinition[],
): ReturnType<typeof parseConfig> {
  const output = config["output"] ?? mkdtempSync(join(tmpdir(), "mrlm-bigram-run-"));
  const written = { ...DEFAULTS, environments: environments.map(({ id }) => ({ id })), stages, ...config, output };
  return parseConfig(JSON.stringify(written), { path: join(String(output), "run.yaml") });
}

/** Trains the same run with an engine that fails at an optimizer step, and resumes it with a new engine. */
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
