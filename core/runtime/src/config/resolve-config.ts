import { isAbsolute, resolve } from "node:path";
import type { JsonObject, JsonValue, PlayerRef, PolicyId } from "@mrlm/spec";
import { canonicalJson } from "../names/canonical-json.ts";
import type { ConfigInput } from "./schema.ts";
import { DEFAULT_POLICY } from "./policies.ts";
import type {
  ResolvedConfig,
  ResolvedEnvironment,
  ResolvedLearner,
  ResolvedModel,
  ResolvedPart,
  ResolvedSampling,
  ResolvedStage,
} from "./resolved-config.ts";

type PolicyInput = NonNullable<ConfigInput["policies"]>[string];
type StageInput = NonNullable<ConfigInput["stages"]>[number];
type LearnerInput = Pick<StageInput, "algorithm" | "sampling" | "reference_model" | "options">;
type EnvironmentInput = NonNullable<ConfigInput["environments"]>[number];

/** Location of a configuration, for its relative paths and its defaults. */
export interface ConfigPlace {
  readonly fallbackName: string;
  /** Directory of the file. */
  readonly directory: string;
  /** Base of a relative output directory. */
  readonly workingDirectory: string;
}

/** Fills in every default and makes every path absolute. The result is deeply frozen. */
export function resolveConfig(input: ConfigInput, place: ConfigPlace): ResolvedConfig {
  const base = resolve(place.directory, input.base_directory ?? ".");
  const path = (given: string): string => absolutePath(base, given);
  const tokenFile = (section?: { readonly token_file?: string }) =>
    section?.token_file === undefined ? {} : { token_file: path(section.token_file) };
  const seed = input.seed ?? 0;
  const environments = (input.environments ?? []).map((environment) => ({
    ...resolveEnvironment(environment, path),
    weight: environment.weight ?? 1,
  }));
  const policies: Record<PolicyId, ResolvedModel> = Object.fromEntries(
    Object.entries(input.policies ?? { [DEFAULT_POLICY]: input.model ?? {} }).map(
      ([name, { sampling, ...model }]: [string, PolicyInput]) => [
        name,
        { ...resolveModel(model, seed, path), ...(sampling === undefined ? {} : { sampling }) },
      ],
    ),
  );
  const output = typeof input.output === "string" ? { directory: input.output } : (input.output ?? {});
  const sampling = {
    ...input.sampling,
    temperature: input.sampling?.temperature ?? 1,
    max_tokens: input.sampling?.max_tokens ?? 256,
    concurrency: input.sampling?.concurrency ?? 256,
  };
  const { max_sequence_tokens: _, concurrency: __, ...turnSampling } = sampling;
  const { nproc_per_node = 1, nnodes = 1 } = input.distributed ?? {};
  const { enabled = nproc_per_node > 1 || nnodes > 1 } = input.distributed ?? {};
  return freeze({
    name: input.name ?? place.fallbackName,
    ...(input.description ? { description: input.description } : {}),
    tags: input.tags ?? [],
    seed,
    policies,
    environments: mergeEqual(environments),
    stages: (input.stages ?? []).map((stage) =>
      resolveStage(stage, turnSampling, Object.keys(policies)[0] as string, path),
    ),
    sampling,
    play: resolvePlay(input.play),
    eval: {
      environments:
        input.eval?.environments?.map((environment) => resolveEnvironment(environment, path)) ??
        mergeEqual(environments.map(({ reward_sharing: _, ...environment }) => environment)).map(
          ({ weight: _, ...environment }) => environment,
        ),
      split: input.eval?.split ?? "eval",
      tasks: input.eval?.tasks ?? 256,
      samples: input.eval?.samples ?? 1,
      every: input.eval?.tasks === 0 ? 0 : (input.eval?.every ?? 0),
      may_fail: input.eval?.may_fail ?? false,
    },
    engine: {
      ...input.engine,
      ...tokenFile(input.engine),
      provider: input.engine?.provider ?? "torch",
      device: input.engine?.device ?? "auto",
      mode: engineMode(input),
      check_memory: input.engine?.check_memory ?? true,
      samplers: input.engine?.samplers ?? 0,
      sampler_wait_seconds: input.engine?.sampler_wait_seconds ?? 0,
    },
    ...(input.engines === undefined
      ? {}
      : {
          engines: Object.fromEntries(
            Object.entries(input.engines).map(([name, engine]) => [
              name,
              {
                ...engine,
                ...tokenFile(engine),
                device: engine.device ?? input.engine?.device ?? "auto",
                samplers: engine.samplers ?? 0,
              },
            ]),
          ),
        }),
    server: {
      ...input.server,
      ...tokenFile(input.server),
      ...(input.server?.tls === undefined ? {} : { tls: resolveTls(input.server.tls, path) }),
      spawn: input.server?.spawn ?? false,
      reconnect_seconds: input.server?.reconnect_seconds ?? 60,
    },
    checkpoint: { every: input.checkpoint?.every ?? 50, keep: input.checkpoint?.keep ?? 2 },
    store: resolveStore(input.store),
    output: {
      directory: resolve(place.workingDirectory, output.directory ?? "runs"),
      trajectories: output.trajectories ?? true,
    },
    trackers: (input.trackers ?? []).map((tracker) =>
      typeof tracker === "string"
        ? { name: tracker, options: {} }
        : { name: tracker.name, options: tracker.options ?? {} },
    ),
    plugins: input.plugins ?? {},
    distributed: {
      ...pick(input.distributed, ["master_addr", "master_port"]),
      enabled,
      strategy: input.distributed?.strategy ?? "ddp",
      nproc_per_node: enabled ? nproc_per_node : 1,
      nnodes: enabled ? nnodes : 1,
      join_seconds: input.distributed?.join_seconds ?? 600,
    },
    ...(input.launcher === undefined ? {} : { launcher: input.launcher }),
    ...(input.parts === undefined ? {} : { parts: input.parts.map(resolvePart) }),
    base_directory: base,
  });
}

function resolvePart({
  args = [],
  env = {},
  restarts = 5,
  ...rest
}: NonNullable<ConfigInput["parts"]>[number]): ResolvedPart {
  return { ...rest, args, env, restarts };
}

/**
 * Fills in the defaults of a stage.
 * @param only the policy that a stage without `learners` trains
 * @param path makes a path absolute
 */
function resolveStage(
  stage: StageInput,
  run: ResolvedSampling,
  only: PolicyId,
  path: (given: string) => string,
): ResolvedStage {
  const { name, sampling, until, learners } = stage;
  const learner = ({ algorithm = "", sampling: own, options, ...rest }: LearnerInput): ResolvedLearner => {
    const { reference_model: reference, ...inline } = rest;
    return {
      algorithm,
      ...(own === undefined ? {} : { sampling: own }),
      ...(reference === undefined
        ? {}
        : {
            reference_model: { ...reference, ...(reference.path === undefined ? {} : { path: path(reference.path) }) },
          }),
      options: { ...(inline as JsonObject), ...options },
    };
  };
  const { algorithm, options, name: _, sampling: __, until: ___, learners: ____, ...inline } = stage;
  const resolved: Readonly<Record<PolicyId, ResolvedLearner>> =
    learners === undefined
      ? { [only]: learner({ ...inline, algorithm, options }) }
      : Object.fromEntries(Object.entries(learners).map(([policy, each]) => [policy, learner(each)]));
  const names = Object.values(resolved).map((each) => each.algorithm.split("@")[0] as string);
  return {
    name: name ?? [...new Set(names)].join("+"),
    sampling: { ...run, ...sampling },
    ...(until === undefined ? {} : { until: { every: 1, tasks: 256, ...until } }),
    learners: resolved,
  };
}

function resolveTls(
  { server_name, ...files }: NonNullable<NonNullable<ConfigInput["server"]>["tls"]>,
  path: (given: string) => string,
): NonNullable<ResolvedConfig["server"]["tls"]> {
  const absolute = Object.entries(files).map(([name, file]) => [name, path(file)]);
  return { ...Object.fromEntries(absolute), ...(server_name === undefined ? {} : { server_name }) };
}

/** Returns a path relative to a base directory as an absolute one. */
export function absolutePath(base: string, given: string): string {
  return isAbsolute(given) ? given : resolve(base, given);
}

function resolveModel(
  model: NonNullable<ConfigInput["model"]>,
  seed: number,
  path: (given: string) => string,
): ResolvedModel {
  const { random } = model;
  const tokenizer = random?.tokenizer;
  return {
    ...(model.path === undefined ? {} : { path: path(model.path) }),
    ...(random === undefined
      ? {}
      : {
          random: {
            config: typeof random.config === "string" ? path(random.config) : random.config,
            tokenizer:
              typeof tokenizer === "string"
                ? tokenizer === "characters"
                  ? { characters: {} }
                  : path(tokenizer)
                : (tokenizer ?? { characters: {} }),
            seed: random.seed ?? seed,
          },
        }),
    dtype: model.dtype ?? "auto",
    ...(model.lora === undefined
      ? {}
      : { lora: { ...model.lora, ...(model.lora.path === undefined ? {} : { path: path(model.lora.path) }) } }),
    ...pick(model, ["tool_format", "float32_head", "gradient_checkpointing", "micro_batch_tokens"]),
  };
}

/**
 * Fills in the defaults of an entry of `environments`.
 * @param path makes a path absolute
 */
export function resolveEnvironment(
  environment: EnvironmentInput,
  path: (given: string) => string,
): ResolvedEnvironment {
  const { id, options = {}, players, sides } = environment;
  return {
    id,
    options,
    ...pick(environment, ["max_turns", "reward_sharing"]),
    ...(players === undefined
      ? {}
      : {
          players: Object.fromEntries(
            Object.entries(players).map(([role, player]) => [role, resolvePlayer(player, path)]),
          ),
          sides: sides ?? "fixed",
        }),
  };
}

function resolvePlayer(
  player: NonNullable<EnvironmentInput["players"]>[string],
  path: (given: string) => string,
): PlayerRef {
  if (typeof player === "string") return { policy: player };
  if (player.endpoint !== undefined)
    return {
      endpoint: player.endpoint,
      model: player.model as string,
      ...pick(player, ["api_key_env"]),
      options: player.options ?? {},
    };
  if (player.model !== undefined) return { model: path(player.model) };
  if (player.scripted !== undefined) return { scripted: player.scripted, options: player.options ?? {} };
  return { policy: player.policy ?? DEFAULT_POLICY, ...pick(player, ["past"]) };
}

/** Text that two entries have in common if they differ in nothing but their weight. */
export function environmentKey(environment: ResolvedEnvironment): string {
  const { id, options, max_turns, players, sides, reward_sharing } = environment;
  const values = [id, options, max_turns ?? null, players ?? null, sides ?? null, reward_sharing ?? null];
  return canonicalJson(values as unknown as JsonValue);
}

/** Merges equal environments and adds their weights. */
function mergeEqual<E extends ResolvedEnvironment & { readonly weight: number }>(environments: readonly E[]): E[] {
  const merged = new Map<string, E>();
  for (const environment of environments) {
    const key = environmentKey(environment);
    const known = merged.get(key);
    merged.set(key, known === undefined ? environment : { ...known, weight: known.weight + environment.weight });
  }
  return [...merged.values()];
}

function pick<T extends object, K extends keyof T>(value: T | undefined, keys: readonly K[]): Partial<Pick<T, K>> {
  return Object.fromEntries(
    keys.filter((key) => value?.[key] !== undefined).map((key) => [key, value?.[key]]),
  ) as Partial<Pick<T, K>>;
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

function resolvePlay({
  cohorts = 1,
  mode = "sync",
  lag = mode === "sync" ? 0 : 1,
  ...rest
}: ConfigInput["play"] = {}): ResolvedConfig["play"] {
  return { cohorts, mode, lag, ...rest };
}

/** Asynchronous play needs no barriers of sampling. */
function engineMode({ engine, play }: ConfigInput): ResolvedConfig["engine"]["mode"] {
  const mode = engine?.mode ?? "auto";
  return mode === "auto" && play?.mode === "async" ? "throughput" : mode;
}

/** A text names the database alone. */
function resolveStore(store: ConfigInput["store"]): ResolvedConfig["store"] {
  const { url, keep_tokens = 50 } = typeof store === "string" ? { url: store } : (store ?? {});
  return { ...(url === undefined ? {} : { url }), keep_tokens };
}
