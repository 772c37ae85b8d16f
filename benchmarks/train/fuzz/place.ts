import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectEngine } from "@mrlm/client";
import { toRecordedRows } from "@mrlm/kit/learning";
import { chatRenderer, characterTokenizerFiles } from "@mrlm/kit/renderer";
import dpoPlugin from "@mrlm/dpo";
import { launchEngine } from "@mrlm/engine-torch";
import codePlugin from "@mrlm/environment-code";
import mathPlugin from "@mrlm/environment-math";
import grpoPlugin from "@mrlm/grpo";
import ppoPlugin from "@mrlm/ppo";
import {
  Journal,
  LocalHost,
  parseConfig,
  PluginHost,
  prepareRun,
  type PreparedRun,
  RunDirectory,
  trainRun,
  writeCollection,
} from "@mrlm/runtime";
import { EpisodeReader } from "@mrlm/store";
import javascriptPlugin from "@mrlm/sandbox-javascript";
import pythonPlugin from "@mrlm/sandbox-python";
import scorerMathPlugin from "@mrlm/scorer-math";
import sftPlugin from "@mrlm/sft";
import type { Engine } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import tensorboardPlugin from "@mrlm/tracker-tensorboard";
import reversePlugin from "../../../examples/reverse/reverse.ts";
import { fuzzEnvironments } from "./environments.ts";

/** Number of processes of an engine, and how weights are divided among them. */
export type Strategy = "one" | "ddp" | "fsdp";

/** Data files to learn from. */
export interface Data {
  readonly conversations: string;
  readonly pairs: string;
  readonly messagePairs: string;
  readonly singles: string;
  readonly collected: string;
  readonly parquet: string;
}

/** Shared surroundings of all trials: one host, and one engine of each kind. */
export interface Place {
  readonly host: LocalHost;
  readonly plugins: PluginHost;
  readonly data: Data;
  /** A model that has learnt the form of an answer, so that episodes differ in what they earn. */
  readonly model: string;
  /** Parent of the run directories. */
  readonly runs: string;
  readonly withCode: boolean;
  /** The engine of the tests instead of the real one: bigrams in float64, without adapters. */
  readonly isBigram: boolean;
  /** Started on the first call. */
  engine(strategy: Strategy): Promise<Engine>;
  /** Throws as `mrlm train` does before anything is started. */
  prepare(text: string): Promise<PreparedRun>;
  close(): Promise<void>;
}

const PLUGINS = [
  sftPlugin,
  grpoPlugin,
  ppoPlugin,
  dpoPlugin,
  mathPlugin,
  codePlugin,
  scorerMathPlugin,
  javascriptPlugin,
  pythonPlugin,
  tensorboardPlugin,
  reversePlugin,
  fuzzEnvironments,
];

/** Makes a place below `directory`: engines, a model of a few thousand parameters, and data files. */
export async function openPlace(directory: string, options: Pick<Place, "withCode" | "isBigram">): Promise<Place> {
  const runs = join(directory, "runs");
  mkdirSync(runs, { recursive: true });
  const plugins = await PluginHost.of(PLUGINS);
  const host = new LocalHost({ source: plugins });
  const engines = new Map<Strategy, Promise<{ readonly engine: Engine; stop(): Promise<void> }>>();
  const place = {
    host,
    plugins,
    runs,
    ...options,
    data: writeData(directory),
    model: "",
    async engine(strategy: Strategy) {
      const opened = engines.get(strategy) ?? (options.isBigram ? bigramEngine() : startEngine(strategy, directory));
      engines.set(strategy, opened);
      return (await opened).engine;
    },
    prepare: async (text: string) =>
      prepareRun(parseConfig(text, { path: join(directory, "fuzz.yaml"), workingDirectory: directory }), {
        host,
        algorithms: plugins,
      }),
    async close() {
      for (const opened of engines.values()) await (await opened).stop();
      await host.close();
      await plugins.close();
    },
  };
  const warm = await trainRun({
    prepared: await place.prepare(JSON.stringify(warmConfig(runs))),
    host,
    engine: await place.engine("one"),
  });
  await writeCollected(warm.directory, place.data);
  const model = warm.model;
  return { ...place, model: model as string };
}

function warmConfig(runs: string): object {
  const config = {
    model_type: "qwen2",
    hidden_size: 32,
    intermediate_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    max_position_embeddings: 256,
    tie_word_embeddings: true,
  };
  return {
    name: "warm",
    model: { random: { config, tokenizer: "characters" } },
    environments: [
      {
        id: "math@2",
        options: { families: ["ordering"], difficulty_range: 1, style: "terse", rewards: { format: 0.5 } },
      },
      { id: "letters@1", weight: 0.3 },
    ],
    sampling: { max_tokens: 8 },
    stages: [
      { algorithm: "sft", steps: 24, batch_size: 32, learning_rate: 1e-2 },
      { algorithm: "grpo", steps: 1, prompts_per_step: 12, group_size: 6, learning_rate: 1e-4 },
    ],
    eval: { tasks: 0 },
    output: { directory: runs },
  };
}

/** Writes the episodes of a run, as `mrlm collect` writes them. */
async function writeCollected(run: string, { collected, parquet }: Data): Promise<void> {
  const { fingerprint } = chatRenderer({ tokenizerFiles: characterTokenizerFiles(), eosTokenIds: [] });
  const store = new EpisodeReader(RunDirectory.open(run).store);
  const rows = Array.from(store.read()).flatMap(({ trajectory }) => toRecordedRows(trajectory, () => fingerprint));
  store.close();
  const journal = await Journal.open(`${collected}.partial`, {});
  journal.add({ batch: 0, rows, counts: {} });
  for (const file of [collected, parquet]) await writeCollection(file, journal, {});
  journal.remove();
}

async function bigramEngine(): Promise<{ readonly engine: Engine; stop(): Promise<void> }> {
  return { engine: new BigramEngine(), stop: async () => undefined };
}

async function startEngine(
  strategy: Strategy,
  logDirectory: string,
): Promise<{ readonly engine: Engine; stop(): Promise<void> }> {
  const started = await launchEngine({
    device: "cpu",
    threads: 1,
    logDirectory,
    ...(strategy === "one" ? {} : { distributed: { strategy, processesPerNode: 2, nodes: 1 } }),
  });
  const engine = await connectEngine(started.address, { token: started.token });
  return {
    engine,
    async stop() {
      await engine.close();
      await started.stop();
    },
  };
}

function writeData(directory: string): Data {
  const write = (name: string, rows: readonly object[]): string => {
    writeFileSync(join(directory, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return join(directory, name);
  };
  const user = (content: string) => ({ role: "user", content });
  const assistant = (content: string) => ({ role: "assistant", content });
  return {
    conversations: write(
      "conversations.jsonl",
      Array.from({ length: 12 }, (_, i) =>
        i % 3 === 0
          ? { messages: [user(`${i}?`), assistant("b"), user("and?"), assistant(`d${i}`)] }
          : { prompt: `${i}`, completion: "bd ".repeat(i) },
      ),
    ),
    pairs: write(
      "pairs.jsonl",
      Array.from({ length: 9 }, (_, i) => ({
        prompt: `${i} + ${i}`,
        chosen: `<answer>${2 * i}</answer>`,
        rejected: "no ".repeat(1 + (i % 4)),
      })),
    ),
    messagePairs: write(
      "messages.jsonl",
      Array.from({ length: 9 }, (_, i) => ({
        prompt: [user("hi"), assistant("yes?"), user(`${i}`)],
        chosen: [assistant(`b${i}`)],
        rejected: [assistant("")],
      })),
    ),
    singles: write(
      "singles.jsonl",
      Array.from({ length: 9 }, (_, i) => ({
        prompt: `${i} + ${i}`,
        completion: i % 3 === 0 ? `<answer>${2 * i}</answer>` : [assistant(`b${i}`)],
        label: i % 3 === 0,
      })),
    ),
    collected: join(directory, "collected.jsonl"),
    parquet: join(directory, "collected.parquet"),
  };
}
