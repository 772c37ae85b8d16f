import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";

/** A training job that both commits run. */
export interface Case {
  /** `math/grpo` for an example, `same-bits/NAME` for a file of this folder. */
  readonly name: string;
  /** Path of its configuration or TypeScript file, relative to the repository. */
  readonly path: string;
  /** The step at whose end the run is killed, to be resumed. */
  readonly killAtStep?: number;
}

type Config = Record<string, unknown>;

const OWN = "test/same-bits";
const TYPESCRIPT: Case = { name: "typescript/train", path: "examples/typescript/train.ts" };
/** Examples that need more than the repository has, or whose bits do not repeat. */
const LEFT_OUT = new Set(["gsm8k/gsm8k", "async/async", "harbor/learning/learning", "vllm/vllm"]);
/** Step 21 is the first after the checkpoint at step 20. */
const KILLS: Readonly<Record<string, number>> = { "kill-and-resume": 21 };

/** Tokens of a forward and backward pass, which decide about the last bits of a gradient. */
const MICRO_BATCH_TOKENS = 512;
/**
 * A few small steps of each algorithm. After SFT some answers have the right form, so that rewards differ in the next stage. Fewer steps at a higher rate would make
 * the run unstable: a difference of the last bit would grow beyond what `--tolerance` allows.
 */
const SHORT: Readonly<Record<string, Config>> = {
  sft: { steps: 30, batch_size: 32, learning_rate: 3e-3 },
  grpo: { steps: 3, prompts_per_step: 6, group_size: 4 },
  ppo: { steps: 3, prompts_per_step: 6, group_size: 4 },
  dpo: { steps: 4, batch_size: 8, prompts: 12 },
};
const OTHER_ALGORITHM: Config = { steps: 3, prompts_per_step: 6, group_size: 4 };
const SMALL_MODEL = { hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2 };
const CHECKPOINTS = { every: 15, keep: 100 };

/** Lists the examples that can be compared, and the files of this folder. */
export function casesOf(tree: string): Case[] {
  const examples = readdirSync(join(tree, "examples"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".yaml") && !path.includes("node_modules"))
    .map((path) => ({ name: path.replaceAll("\\", "/").replace(/\.yaml$/, ""), path: `examples/${path}` }))
    .filter(({ name }) => !LEFT_OUT.has(name) && !/^(real|improve)\//.test(name));
  const own = readdirSync(join(tree, OWN))
    .filter((file) => file.endsWith(".yaml"))
    .map((file): Case => {
      const name = file.replace(/\.yaml$/, "");
      const killAtStep = KILLS[name];
      return { name: `same-bits/${name}`, path: `${OWN}/${file}`, ...(killAtStep === undefined ? {} : { killAtStep }) };
    });
  return [...examples, TYPESCRIPT, ...own].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Configuration of a case, and the folder that its relative paths start from. */
export interface CaseConfig {
  readonly directory: string;
  /** The configuration omits `base_directory`, so that it is the same in every clone. */
  readonly config: Config;
  /** Whether the tree has the file, so that a run that refuses it is a fault of the tree. */
  readonly isOwn: boolean;
}

/** Reads a case's configuration from the tree that runs it, or from `newer` where that tree does not have it yet. Examples are shortened. */
export function configOf({ path }: Case, tree: string, newer: string): CaseConfig {
  const isOwn = existsSync(join(tree, path));
  const file = join(isOwn ? tree : newer, path);
  const text = readFileSync(file, "utf8");
  const config = path.endsWith(".ts") ? { source: text, short: SHORT } : (parse(text) as Config);
  return {
    directory: dirname(file),
    config: path.startsWith("examples/") && path.endsWith(".yaml") ? shortened(config) : config,
    isOwn,
  };
}

/** Returns a configuration that trains the same way in a few small steps. */
export function shortened(config: Config): Config {
  const { model, policies, environments, stages, training, grpo } = config as {
    model?: Config;
    policies?: Record<string, Config>;
    environments?: Config[];
    stages?: Config[];
    training?: Config;
    grpo?: Config;
  };
  const models =
    policies === undefined
      ? { model: smallModel(model as Config) }
      : { policies: Object.fromEntries(Object.entries(policies).map(([name, each]) => [name, smallModel(each)])) };
  const common = { ...config, ...models, eval: { tasks: 4 }, checkpoint: CHECKPOINTS };
  // The legacy form has one stage, with other names of the sizes.
  if (training !== undefined)
    return {
      ...common,
      training: { ...training, num_epochs: 3, batch_size: 6, save_total_limit: 100 },
      grpo,
      sampling: { max_tokens: 8 },
    };
  return {
    ...common,
    ...(environments && { environments: environments.map(easier) }),
    ...(stages && { stages: stages.map(short) }),
  };
}

function smallModel({ random }: Config): Config {
  const { config = {}, ...rest } = (random ?? { tokenizer: "characters" }) as Config;
  const from =
    random === undefined
      ? {
          model_type: "qwen2",
          num_attention_heads: 4,
          num_key_value_heads: 2,
          max_position_embeddings: 512,
          tie_word_embeddings: true,
        }
      : (config as Config);
  const sizes = Object.entries(SMALL_MODEL).map(([key, size]) => [key, Math.min(size, Number(from[key] ?? size))]);
  return {
    random: { ...rest, config: { ...from, ...Object.fromEntries(sizes) } },
    micro_batch_tokens: MICRO_BATCH_TOKENS,
  };
}

/** Adds a reward for the form of an answer: after these steps a policy solves no task, and groups with equal rewards have no gradient. */
function easier({ options, ...rest }: Config): Config {
  const isMath = /^math(@|$)/.test(String(rest["id"]));
  return {
    ...rest,
    ...(options === undefined
      ? {}
      : { options: isMath ? { ...(options as Config), rewards: { format: 0.5 } } : options }),
  };
}

/** Returns a learner, or a stage with one, of fewer and smaller iterations. */
function withSizes(learner: Config): Config {
  const algorithm = String(learner["algorithm"]).replace(/@.*/, "");
  const { prompts, ...sizes } = SHORT[algorithm] ?? OTHER_ALGORITHM;
  return { ...learner, ...sizes, ...(learner["prompts"] === undefined ? {} : { prompts }) };
}

function short({ until, learners, ...stage }: Config): Config {
  const shortLearners = Object.entries((learners ?? {}) as Record<string, Config>).map(([policy, each]) => [
    policy,
    withSizes(each),
  ]);
  return {
    ...(learners === undefined ? withSizes(stage) : { ...stage, learners: Object.fromEntries(shortLearners) }),
    // The goal is measured but not reached.
    ...(until === undefined ? {} : { until: { accuracy: 1, every: 15, tasks: 8 } }),
  };
}
