import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { meanOf, meanValue } from "@mrlm/kit/learning";
import { temporaryFolder } from "@mrlm/process";
import { diagnose, learningCurve, modelDirectory, readRun, RunDirectory } from "@mrlm/runtime";
import { type Message, MrlmError, type Trajectory } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import type { CheckOptions } from "../declarations/check.ts";
import { EXIT } from "../exit-codes.ts";
import { modelFetcher } from "../services/stored-models.ts";
import { train } from "./train.ts";

const STEPS = 40;
const GROUPS = { prompts_per_step: 16, group_size: 8 };
/** Last iterations, whose answers count. */
const LAST = STEPS / 4;
const MAX_TOKENS = 256;
/** Answers that the search tries. */
const MOST = 40;
/** Rules of `mrlm doctor` about answers that are right for no task. */
const RULES: readonly string[] = ["copied-answers", "equal-answers"];

/** Model without a file, for an environment whose hole needs no language. */
const TINY = {
  tokens: 32,
  learningRate: 3e-3,
  model: {
    random: {
      config: {
        model_type: "qwen2",
        hidden_size: 64,
        intermediate_size: 128,
        num_hidden_layers: 2,
        num_attention_heads: 2,
        num_key_value_heads: 1,
        max_position_embeddings: 4_096,
        tie_word_embeddings: true,
      },
    },
  },
};
const LEARNING_RATE = 1e-5;

/** Result of a training in an environment. */
export interface LearntAnswers {
  /** The agent's messages of paid episodes, those of the most tasks first. */
  readonly answers: readonly (readonly Message[])[];
  /** Rewards before and after, and findings of `mrlm doctor` about the answers. */
  readonly text: string;
}

/** Trains a model in an environment as `mrlm train` does, by GRPO, and returns the answers that earn more than at the beginning. */
export async function learnAnswers(
  context: CommandContext,
  environment: string,
  { model, maxTokens }: Pick<CheckOptions, "model" | "maxTokens">,
): Promise<LearntAnswers> {
  const { console, directory } = context;
  const folder = temporaryFolder("attack");
  const [config, output] = [join(folder.path, "run.yaml"), join(folder.path, "run")];
  try {
    const isTiny = typeof model !== "string";
    writeFileSync(
      config,
      JSON.stringify({
        model: isTiny ? TINY.model : await modelOf(model, context),
        environments: [{ id: environment }],
        sampling: { max_tokens: maxTokens ?? (isTiny ? TINY.tokens : MAX_TOKENS) },
        stages: [
          { algorithm: "grpo", steps: STEPS, ...GROUPS, learning_rate: isTiny ? TINY.learningRate : LEARNING_RATE },
        ],
        eval: { tasks: 0 },
        checkpoint: { every: 0 },
      }),
    );
    console.note(`training ${isTiny ? "a tiny model" : model} in ${environment} for ${STEPS} steps`);
    const silent = {
      ...console,
      json: false,
      isInteractive: false,
      print: () => undefined,
      emit: () => undefined,
      note: () => undefined,
    };
    let run = output;
    const code = await train({ console: silent, directory }, { config, output }, (path) => (run = path));
    if (code !== EXIT.ok) throw new MrlmError("CANCELLED", "The training of --model was interrupted.");
    return answersOf(run, isTiny ? "a tiny model" : model);
  } finally {
    folder.remove();
  }
}

/** Returns `model` of a configuration that trains on from the model of a flag. */
export async function modelOf(
  model: string,
  context: CommandContext,
): Promise<{ readonly path: string; readonly lora?: { readonly path: string } }> {
  const { path, base } = await modelDirectory(model, undefined, modelFetcher(context));
  return base === undefined ? { path } : { path: base, lora: { path } };
}

const mean = (values: readonly number[]): number => meanValue(meanOf(values));

function answersOf(path: string, model: string): LearntAnswers {
  const run = RunDirectory.open(path);
  const rewards = learningCurve(run.metrics.rows())?.points.map(({ value }) => value) ?? [0];
  const [before, after] = [mean(rewards.slice(0, LAST)), mean(rewards.slice(-LAST))];
  const reader = run.readEpisodes();
  const limit = LAST * GROUPS.prompts_per_step * GROUPS.group_size;
  const played = reader?.find({ task: undefined, order: "newest", limit }) ?? [];
  reader?.close();
  const paid = played.flatMap(({ trajectory }) => paidAnswers(trajectory, before));
  const equal = [...Map.groupBy(paid, ({ messages }) => JSON.stringify(messages)).values()];
  const countOf = (all: typeof paid): number => new Set(all.map(({ task }) => task)).size;
  const found = diagnose(readRun(path)).filter(({ rule }) => RULES.includes(rule));
  return {
    answers: equal
      .toSorted((one, other) => countOf(other) - countOf(one))
      .slice(0, MOST)
      .map(([first]) => first?.messages ?? []),
    text: [
      `${model} trained by GRPO for ${STEPS} steps: mean reward ${before.toFixed(3)}, then ${after.toFixed(3)}.`,
      ...found.map(({ what }) => what),
    ].join(" "),
  };
}

/** Returns the messages of each agent of the policy that earned more than `least`. */
function paidAnswers({ agents, turns, task, error }: Trajectory, least: number) {
  if (error !== undefined) return [];
  return Object.entries(agents).flatMap(([agent, { player, total }]) => {
    if (player.kind !== "policy" || !total.scored || total.value <= least) return [];
    const own = turns.filter((turn) => turn.agent === agent && turn.stopReason !== "exhausted");
    return [{ task, messages: own.map(({ response }) => response) }];
  });
}
