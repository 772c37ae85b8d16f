import { isAbsolute, resolve } from "node:path";
import { isObject, type JsonValue, type PolicyId } from "@mrlm/spec";
import { canonicalJson } from "../names/canonical-json.ts";
import { bareName } from "../names/versioned.ts";
import type { ConfigInput, ParsedConfig } from "./schema.ts";
import { DEFAULT_POLICY, environmentSection } from "./sections/environments.ts";
import { RelativePath } from "./sections/values.ts";

/** Value of a schema after its paths were made absolute. */
type Resolved<T> = T extends RelativePath
  ? string
  : T extends JsonValue
    ? T
    : T extends object
      ? { readonly [K in keyof T]: Resolved<T[K]> }
      : T;

/**
 * Configuration with every default filled in and every path absolute. Its keys are those of the YAML form, so loading it from a file gives the same
 * configuration.
 */
export type ResolvedConfig = Resolved<ReturnType<typeof withDefaults>>;
/** Trained model. Exactly one of `path` and `random` is set. */
export type ResolvedModel = ResolvedConfig["policies"][PolicyId];
export type ResolvedStage = ResolvedConfig["stages"][number];
/** Sampling parameters of a turn. */
export type ResolvedSampling = Omit<AbsoluteConfig["sampling"], "max_sequence_tokens" | "concurrency">;
/** Algorithm that trains one policy in a stage. */
export type ResolvedLearner = ResolvedStage["learners"][PolicyId];
/** Reference model of a learner. At most one of `reset_every` and `ema` is set. */
export type ReferenceModel = NonNullable<ResolvedLearner["reference_model"]>;
/** Environment with its options. */
export type ResolvedEnvironment = Omit<ResolvedConfig["environments"][number], "weight">;
/** Processes that `mrlm launch` starts beside the training process. */
export type ResolvedPart = NonNullable<ResolvedConfig["parts"]>[number];

type AbsoluteConfig = Resolved<ParsedConfig>;
type PolicyKeys = NonNullable<AbsoluteConfig["policies"]>;
type LearnerKeys = NonNullable<NonNullable<AbsoluteConfig["stages"]>[number]["learner"]>;

/** Location of a configuration, for its relative paths and its defaults. */
export interface ConfigPlace {
  readonly fallbackName: string;
  /** Directory of the file. */
  readonly directory: string;
  /** Base of a relative output directory. */
  readonly workingDirectory: string;
}

/** Makes every path absolute, and fills in the defaults that follow from other keys. The result is deeply frozen. */
export function resolveConfig(parsed: ParsedConfig, place: ConfigPlace): ResolvedConfig {
  const base = resolve(place.directory, parsed.base_directory ?? ".");
  return resolved(withDefaults(resolved(parsed, base), place, base), base);
}

/**
 * Fills in the defaults of an entry of `environments`, and makes its paths absolute.
 * @param base directory of relative paths
 */
export function resolveEnvironment(
  entry: NonNullable<ConfigInput["environments"]>[number],
  base: string,
): ResolvedEnvironment {
  return resolved(environmentSection.parse(entry), base);
}

/** Text that two entries have in common if they differ in nothing but their weight and watch, which change no episode. */
export function environmentKey(environment: ResolvedEnvironment): string {
  const { id, options, max_turns, players, sides, reward_sharing } = environment;
  const values = [id, options, max_turns ?? null, players ?? null, sides ?? null, reward_sharing ?? null];
  return canonicalJson(values as unknown as JsonValue);
}

/** Fills in the defaults that follow from other keys. */
function withDefaults(config: AbsoluteConfig, place: ConfigPlace, base_directory: string) {
  const { name, description, tags, seed, model, policies, models: measured, environments, engines, ...others } = config;
  const models: PolicyKeys = policies ??
    (measured && mapValues(measured, keysOfMeasured)) ?? { [DEFAULT_POLICY]: model as PolicyKeys[PolicyId] };
  const [only] = Object.keys(models) as [PolicyId];
  const { max_sequence_tokens: _, concurrency: __, ...sampling } = others.sampling;
  const { mode, device } = others.engine;
  return {
    name: name ?? place.fallbackName,
    ...(description && { description }),
    tags,
    seed,
    policies: mapValues(models, ({ random, hub, revision, gguf, ...policy }) => ({
      ...policy,
      ...(hub && { path: `hub:${hub}${revision === undefined ? "" : `@${revision}`}` }),
      ...(gguf && { path: gguf }),
      ...(random && { random: { ...random, seed: random.seed ?? seed } }),
    })),
    ...(measured && { models: measured }),
    environments: mergeEqual(environments),
    ...others,
    stages: (others.stages ?? []).map(({ learner, learners = { [only]: learner as LearnerKeys }, ...stage }) => ({
      ...stage,
      name: stage.name ?? algorithmNames(learners),
      sampling: { ...sampling, ...stage.sampling },
      learners,
    })),
    eval: {
      ...others.eval,
      environments:
        others.eval.environments ??
        mergeEqual(environments.map(({ reward_sharing: _, watch: __, ...environment }) => environment)).map(
          ({ weight: _, ...environment }) => environment,
        ),
    },
    engine: {
      ...others.engine,
      // Asynchronous play needs no barriers of sampling.
      mode: mode === "auto" && others.play.mode === "async" ? ("throughput" as const) : mode,
    },
    ...(engines && { engines: mapValues(engines, (entry) => ({ ...entry, device: entry.device ?? device })) }),
    output: { ...others.output, directory: resolve(place.workingDirectory, others.output.directory) },
    base_directory,
  };
}

/** Returns the keys of a measured model that are those of a policy. */
function keysOfMeasured({
  model: _,
  policy: __,
  base_url: ___,
  options: ____,
  ...keys
}: NonNullable<AbsoluteConfig["models"]>[string]): PolicyKeys[PolicyId] {
  return keys;
}

function algorithmNames(learners: Readonly<Record<PolicyId, LearnerKeys>>): string {
  const names = Object.values(learners).map(({ algorithm }) => bareName(algorithm));
  return [...new Set(names)].join("+");
}

/** Merges equal environments and adds their weights. The first watch holds. */
function mergeEqual<E extends AbsoluteConfig["environments"][number]>(environments: readonly E[]): E[] {
  const merged = new Map<string, E>();
  for (const environment of environments) {
    const key = environmentKey(environment);
    const known = merged.get(key);
    merged.set(
      key,
      known === undefined ? environment : { ...environment, ...known, weight: known.weight + environment.weight },
    );
  }
  return [...merged.values()];
}

/** Copies a value with absolute paths and without undefined members, and freezes the copy. */
function resolved<T>(value: T, base: string): Resolved<T> {
  return frozen(value, base) as Resolved<T>;
}

function frozen(value: unknown, base: string): unknown {
  if (value instanceof RelativePath) return isAbsolute(value.given) ? value.given : resolve(base, value.given);
  if (Array.isArray(value)) return Object.freeze(value.map((entry) => frozen(entry, base)));
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.freeze(Object.fromEntries(members.map(([key, member]) => [key, frozen(member, base)])));
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
