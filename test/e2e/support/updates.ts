import { join } from "node:path";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import { reward } from "@mrlm/reward";
import { sft } from "@mrlm/sft";
import type { AlgorithmDefinition, JsonObject, JsonValue, Mean, SupervisedSequence, TrajectoryGroup } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { localEnvironment } from "./local-environment.ts";
import { startEngine, temporaryDirectory } from "./real-engine.ts";
import { letters, runStage, type StageReport, tinyConfig, tokenizerFiles } from "./stage.ts";

/** Algorithm of a case; `kto` is dpo@1 with single answers, `steps` reward@1 with judged steps. */
export type Kind = "grpo" | "sft" | "dpo" | "kto" | "ppo" | "reward" | "steps";
const algorithms: Record<Kind, AlgorithmDefinition<any>> = { grpo, sft, dpo, kto: dpo, ppo, reward, steps: reward };

/** Sampling temperature of the cases that sample. */
const TEMPERATURE = 0.9;
const MAX_TOKENS = 8;

/** Model from which a case with `distill_coefficient` learns. */
const TEACHER = "teacher";

/** Conversations of different lengths, so that means over tokens and over sequences differ. */
const conversations = ["a", "ab", "abcd", "ddcba", "ab1", "c"].map((completion, i) => ({
  prompt: String(i),
  completion,
}));
const pairs = [0, 2, 4].map((i) => ({
  prompt: String(i),
  chosen: conversations[i]?.completion as string,
  rejected: conversations[i + 1]?.completion as string,
}));

/** Answers to one prompt: the divergence of KTO is then the same for every order of the batch. */
const singles = ["a", "abcd", "ddcba", "ab1", "c"].map((completion, i) => ({
  prompt: "7",
  completion,
  label: i % 2 === 0,
}));
/** Pairs with margins: one has none. */
const marginPairs = pairs.map((pair, i) => ({ ...pair, margin: i / 2 }));

/** Conversations of two and of three judged turns. */
const judged = [
  ["a", "ba", "cd"],
  ["dd", "1"],
].map((turns, i) => ({
  messages: turns.flatMap((content, k) => [
    { role: "user", content: String(k) },
    { role: "assistant", content },
  ]),
  labels: turns.map((_, k) => (i + k) / 3),
}));
const ROWS: Partial<Record<Kind, readonly JsonObject[]>> = {
  sft: conversations,
  dpo: pairs,
  kto: singles,
  reward: marginPairs,
  steps: judged,
};

/** With betas of 0 and an epsilon far above every gradient, AdamW takes a plain gradient step of learning_rate / adam_epsilon. */
export const plainSteps = (size: number) => ({
  steps: 1,
  learning_rate: size * 1e8,
  adam_epsilon: 1e8,
  adam_beta1: 0,
  adam_beta2: 0,
  max_grad_norm: 0,
});

/** Input from which another implementation makes the same updates, and the result of ours. */
export interface Played {
  readonly name: string;
  /** Token ids, masks, rewards and options; directories of the weights before and after. */
  readonly updates: JsonObject;
  readonly reports: readonly StageReport[];
}

/** Updates of a tiny model by the real engine, each from the same weights, to be compared with those of another implementation. */
export class Updates {
  readonly #directory = temporaryDirectory();
  readonly #engine: Engine;
  readonly #stop: () => Promise<void>;

  private constructor(engine: Engine, stop: () => Promise<void>) {
    this.#engine = engine;
    this.#stop = stop;
  }

  static async open(): Promise<Updates> {
    const { engine, stop } = await startEngine();
    const updates = new Updates(engine, stop);
    const random = (seed: number) => ({ kind: "random", config: tinyConfig, seed, tokenizerFiles }) as const;
    await engine.createModel({ model: "first", role: "policy", source: random(3), trainable: true, dtype: "float32" });
    await engine.export("first", updates.#before);
    await engine.createModel({
      model: TEACHER,
      role: "reference",
      source: random(5),
      trainable: false,
      dtype: "float32",
    });
    await engine.export(TEACHER, updates.#teacher);
    await updates.#makeScoring();
    return updates;
  }

  close(): Promise<void> {
    return this.#stop();
  }

  /** Runs one stage of the algorithm on the given rows or on episodes of its policy. */
  async play(kind: Kind, name: string, options: JsonObject): Promise<Played> {
    const policy = `${kind} ${name}`;
    const isReward = kind === "reward" || kind === "steps";
    const isSampled = kind === "grpo" || kind === "ppo";
    await this.#engine.createModel({
      model: policy,
      role: "policy",
      source: { kind: "directory", path: isReward ? this.#scoring : this.#before },
      trainable: true,
      dtype: "float32",
      microBatchTokens: 120,
      valueHead: isReward || options["critic"] === "shared",
    });
    const place = {
      engine: this.#engine,
      policy,
      renderer: letters,
      ...(await localEnvironment()),
      sampling: { temperature: TEMPERATURE, maxTokens: MAX_TOKENS },
      rows: ROWS[kind] ?? [],
      ...(options["distill_coefficient"] === undefined ? {} : { reference: TEACHER }),
    };
    const reports = await runStage(place, algorithms[kind], isSampled ? options : { ...options, data: "rows" });
    const after = join(this.#directory, policy);
    await this.#engine.export(policy, after);
    const made = (await this.#engine.describe()).models
      .map(({ model }) => model)
      .filter((model) => model !== "first" && model !== TEACHER);
    if (made.includes("critic")) await this.#engine.export("critic", `${after} critic`);
    for (const model of made.toReversed()) await this.#engine.releaseModel(model);
    const answers =
      kind === "dpo" || kind === "reward"
        ? pairs.flatMap(({ prompt, chosen, rejected }) =>
            [chosen, rejected].map((completion) => ({ prompt, completion })),
          )
        : (ROWS[kind] ?? []);
    const episodes = isSampled
      ? (reports[0]?.played ?? []).flatMap(episodesOf)
      : kind === "steps"
        ? judged.map(judgedConversation)
        : answers.map((row) => conversationOf(row as Answer));
    return {
      name: policy,
      reports,
      updates: {
        kind,
        options,
        episodes,
        before: isReward ? this.#scoring : this.#before,
        teacher: this.#teacher,
        ...(kind === "reward" ? { margins: marginPairs.map(({ margin }) => margin) } : {}),
        after,
        max_tokens: MAX_TOKENS,
        temperature: isSampled ? TEMPERATURE : 1,
      },
    };
  }

  /** Writes the same weights with a value head that is not zero: the backbone then has a gradient from the first step. */
  async #makeScoring(): Promise<void> {
    const engine = this.#engine;
    const source = { kind: "directory", path: this.#before } as const;
    await engine.createModel({ model: "scoring", role: "policy", source, trainable: true, valueHead: true });
    const tokens = Int32Array.from({ length: 12 }, (_, i) => i + 3);
    await engine.forwardBackward({
      model: "scoring",
      units: [{ sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, t) => Number(t > 0)) }] }],
      outputs: { value: true },
      normalizer: 1,
      loss: [{ value: Float32Array.from({ length: 11 }, (_, t) => Math.sin(t + 1)) }],
    });
    await engine.optimStep({ model: "scoring", learningRate: 0.1, beta1: 0, beta2: 0, epsilon: 1e-3, weightDecay: 0 });
    await engine.export("scoring", this.#scoring);
    await engine.releaseModel("scoring");
  }

  get #scoring(): string {
    return join(this.#directory, "scoring");
  }

  get #teacher(): string {
    return join(this.#directory, TEACHER);
  }

  get #before(): string {
    return join(this.#directory, "before");
  }
}

export const meanOf = (metric: number | Mean | undefined): number =>
  typeof metric === "object" ? metric.sum / metric.count : (metric ?? Number.NaN);

function episodesOf({ id, trajectories }: TrajectoryGroup): JsonValue[] {
  return trajectories.map(({ agents }) => {
    const { segments, total } = agents["agent"] as (typeof agents)[string];
    return { group: id, reward: total.scored ? total.value : Number.NaN, rows: segments.map(rowOf) };
  });
}

/** An answer to a prompt; of KTO also its label. */
interface Answer {
  readonly prompt: string;
  readonly completion: string;
  readonly label?: boolean;
}

function conversationOf({ prompt, completion, label }: Answer): JsonValue {
  const message = (role: "user" | "assistant", text: string) => ({ role, parts: [{ type: "text" as const, text }] });
  const rows = letters.supervise([message("user", prompt), message("assistant", completion)]).map(rowOf);
  return { rows, ...(label === undefined ? {} : { label }) };
}

/** A conversation with its labels. */
function judgedConversation({ messages, labels }: (typeof judged)[number]): JsonValue {
  const rows = letters
    .supervise(
      messages.map(({ role, content }) => ({
        role: role as "user" | "assistant",
        parts: [{ type: "text" as const, text: content }],
      })),
    )
    .map(rowOf);
  return { rows, labels };
}

function rowOf({ tokens, mask }: SupervisedSequence): JsonValue {
  return { tokens: Array.from(tokens), mask: Array.from(mask) };
}
