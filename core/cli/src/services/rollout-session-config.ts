import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  adapterDirectory,
  ENDPOINT_URL,
  isEndpointUrl,
  loadConfig,
  type LoadedConfig,
  type MeasuredEndpoint,
  measuredName,
  modelDirectory,
  parseConfig,
  playerOverrides,
  type ResolvedConfig,
  type ResolvedEnvironment,
  type ResolvedModel,
  samplingOf,
  trainedPolicies,
  withStoredModels,
} from "@mrlm/runtime";
import { defined, MrlmError, type PolicyId } from "@mrlm/spec";
import type { Player, PlayerRef } from "@mrlm/spec/host";
import type { RolloutOptions } from "../declarations/flag-groups.ts";
import type { FetchModel } from "./stored-models.ts";

type ConfigOptions = NonNullable<Parameters<typeof loadConfig>[1]>;

/** Part of an evaluation of several models and environments. */
export interface MeasuredCell {
  /** Name of the model under `models` of the configuration. */
  readonly measured?: PolicyId | undefined;
  /** Keys that replace those of the configuration. */
  readonly overrides?: ReturnType<typeof playerOverrides>;
  /** Base of relative paths in `--player` and `--options`; default: the working directory. */
  readonly directory?: string;
  /** Person that is measured in the place of a model. */
  readonly person?: (policy: PolicyId) => Player;
}

/** Configuration of a rollout session, with its origin. */
export interface RolloutSessionConfig {
  readonly config: ResolvedConfig;
  /** The configuration without the model and the flags. It locates the players of environments. */
  readonly loaded: LoadedConfig;
  /** Path of the file; it need not exist if the session has no configuration file. */
  readonly path: string;
  /** `--set KEY=VALUE` flags, which replace keys of the file. */
  readonly overrides: readonly string[];
  /** Directory of the model, or the name of a model of an endpoint. */
  readonly modelDirectory: string;
  /** Sampling of the other policies that have their own, by the paths at which they play as frozen models. */
  readonly otherSampling: ReadonlyMap<string, ReturnType<typeof samplingOf>>;
  /** Model of an endpoint, which needs no engine. */
  readonly endpoint?: MeasuredEndpoint | undefined;
  readonly person?: Player | undefined;
  /** Base of relative paths in `--options`. */
  readonly directory: string;
  /** Directory of the run that the model belongs to. */
  readonly run: string | undefined;
  /** Note about the model, for people. */
  readonly notice?: string | undefined;
}

/**
 * Returns the configuration of `--config`, else that of the model's run, else an empty one; the model and the flags replace its keys.
 * @param fetch for models of the hub and GGUF files
 */
export async function rolloutSessionConfig(
  args: RolloutOptions,
  fetch: FetchModel,
  cell: MeasuredCell = {},
): Promise<RolloutSessionConfig> {
  const endpoint = endpointOfFlags(args);
  const {
    path: directory,
    run,
    base: adapted,
    notice,
    policy: named,
  } = endpoint === undefined && cell.person === undefined
    ? await modelDirectory(args.model, args.policy, fetch)
    : {
        path: endpoint === undefined ? args.model : measuredName(endpoint),
        ...{ run: undefined, base: undefined, notice: undefined, policy: undefined },
      };
  const file = args.config ?? (run === undefined ? undefined : join(run, "config.yaml"));
  const path = resolve(file ?? "mrlm.yaml");
  const given = await withStoredModels(
    loadedWithPlayers(args, cell, (overrides) =>
      file === undefined ? emptyConfig(args, directory, { path, overrides }) : loadConfig(file, { overrides }),
    ),
    fetch,
  );
  const { policy, model: configured } = measuredPolicy(given.config, cell.measured ?? named ?? args.policy);
  const directoryOf = (other: PolicyId): string | undefined =>
    other === policy
      ? directory
      : named === undefined
        ? given.config.policies[other]?.path
        : join(dirname(directory), other);
  const loaded = withFrozenOthers(given, policy, directoryOf);
  // One engine holds everything that plays in a session.
  const { engines: _engines, models: _models, ...base } = loaded.config;
  const { random: _, sampling: ownSampling, ...model } = configured;
  const source =
    run !== undefined
      ? trainedModel(configured, base.engine, directory)
      : adapted === undefined
        ? { path: directory }
        : { path: adapted, lora: { path: directory } };
  const resolved = { ...model, ...source };
  const flags = {
    ...defined({ temperature: args.temperature, max_tokens: args.maxTokens }),
  };
  const person = cell.person?.(policy);
  // A person plays one episode after the other.
  const sampling = { ...base.sampling, ...ownSampling, ...flags, ...(person === undefined ? {} : { concurrency: 1 }) };
  const others = trainedPolicies(given.config).flatMap(
    ({ policy: other }): [string, ReturnType<typeof samplingOf>][] => {
      const path = directoryOf(other);
      const own = { ...samplingOf(base, other), ...flags };
      return other === policy || path === undefined || isDeepStrictEqual(own, sampling) ? [] : [[path, own]];
    },
  );
  const { seed = base.seed } = args;
  // A server in a separate process needs a configuration file.
  const server = file === undefined ? { ...base.server, spawn: false } : base.server;
  return {
    config: { ...base, seed, server, policies: { [policy]: resolved }, sampling },
    loaded,
    path,
    overrides: args.set ?? [],
    otherSampling: new Map(others),
    modelDirectory: directory,
    endpoint,
    person,
    directory: cell.directory ?? process.cwd(),
    run,
    notice,
  };
}

/** Returns the policy that is measured. Throws USAGE for several policies without a name, and for an unknown name. */
function measuredPolicy(
  config: ResolvedConfig,
  name: PolicyId | undefined,
): ReturnType<typeof trainedPolicies>[number] {
  const policies = trainedPolicies(config);
  const found =
    policies.length === 1 && name === undefined ? policies[0] : policies.find(({ policy }) => policy === name);
  if (found !== undefined) return found;
  const names = policies.map(({ policy }) => policy).join(", ");
  const fault = name === undefined ? "The configuration has several policies" : `There is no policy "${name}"`;
  throw new MrlmError("USAGE", `${fault}.`, { hint: `Name one of them by --policy: ${names}.` });
}

/** Replaces the other policies among the players of environments by frozen models of theirs. */
function withFrozenOthers(
  loaded: LoadedConfig,
  measured: PolicyId,
  directoryOf: (policy: PolicyId) => string | undefined,
): LoadedConfig {
  const { config } = loaded;
  const frozen = (player: PlayerRef): PlayerRef => {
    // Copies of earlier versions are in no run directory: the trained weights play in their place.
    if (!("policy" in player) || (player.policy === measured && player.past === undefined)) return player;
    const model = directoryOf(player.policy);
    if (model !== undefined) return { model };
    throw new MrlmError("USAGE", `The policy "${player.policy}" plays a role, and its weights are not known.`, {
      hint: "Name a run or a checkpoint in --model, or state the role's player by --player.",
    });
  };
  const played = <E extends ResolvedEnvironment>(environments: readonly E[]): E[] =>
    environments.map((each) =>
      each.players === undefined
        ? each
        : {
            ...each,
            players: Object.fromEntries(Object.entries(each.players).map(([role, player]) => [role, frozen(player)])),
          },
    );
  const environments = played(config.environments);
  const evaluation = { ...config.eval, environments: played(config.eval.environments) };
  return { ...loaded, config: { ...config, environments, eval: evaluation } };
}

/**
 * Returns the paths of the weights of a run's model. With `model.lora` these are the base model and the adapter if both are on this machine: a merged
 * model is in float32, and would lose a part of the adapter in 16 bits.
 */
function trainedModel(
  { path, lora }: ResolvedModel,
  engine: ResolvedConfig["engine"],
  directory: string,
): Pick<ResolvedModel, "path" | "lora"> {
  const adapter = adapterDirectory(directory);
  const isSeparate =
    lora !== undefined &&
    path !== undefined &&
    engine.address === undefined &&
    adapter !== directory &&
    existsSync(path);
  return isSeparate ? { path, lora: { path: adapter } } : { path: directory, lora: undefined };
}

/** Loads a configuration with the flags `--set` and `--player`. */
function loadedWithPlayers(
  { environment, player = [], set = [] }: RolloutOptions,
  { overrides = [], directory = process.cwd() }: MeasuredCell,
  load: (overrides: NonNullable<ConfigOptions["overrides"]>) => LoadedConfig,
): LoadedConfig {
  const own = [...set, ...overrides];
  const loaded = load(own);
  return player.length === 0 ? loaded : load([...own, ...playerOverrides(loaded, environment, player, directory)]);
}

function emptyConfig(
  { environment }: RolloutOptions,
  model: string,
  options: ConfigOptions & { readonly path: string },
): LoadedConfig {
  return parseConfig(
    JSON.stringify({ model: { path: model }, environments: [{ id: environment }], stages: [{ algorithm: "none" }] }),
    options,
  );
}

/** Flags that name a model of an endpoint. */
type EndpointOptions = Pick<RolloutOptions, "model" | "baseUrl" | "modelOptions">;

const PREFIX = "openai:";
const OPENAI = "https://api.openai.com/v1";

/**
 * Returns the model of an endpoint that `--model openai:NAME` names; `undefined` for a model directory. The address is that of `--base-url`, else of
 * OPENAI_BASE_URL. The key is in OPENAI_API_KEY, which an endpoint without keys need not have.
 * @throws USAGE
 */
export function endpointOfFlags({ model, baseUrl, modelOptions }: EndpointOptions): MeasuredEndpoint | undefined {
  if (!model.startsWith(PREFIX)) {
    const flag = baseUrl !== undefined ? "--base-url" : modelOptions !== undefined ? "--model-options" : undefined;
    if (flag === undefined) return undefined;
    throw new MrlmError("USAGE", `${flag} is for a model of an endpoint: --model ${PREFIX}NAME.`);
  }
  const name = model.slice(PREFIX.length);
  if (name === "") throw new MrlmError("USAGE", `--model ${PREFIX} names no model.`);
  const { OPENAI_BASE_URL: ofEnvironment = "", OPENAI_API_KEY: key = "" } = process.env;
  const endpoint = baseUrl ?? (ofEnvironment === "" ? OPENAI : ofEnvironment);
  if (!isEndpointUrl(endpoint))
    throw new MrlmError("USAGE", `${baseUrl === undefined ? "OPENAI_BASE_URL" : "--base-url"} ${ENDPOINT_URL}.`);
  return {
    endpoint,
    model: name,
    ...(key !== "" || endpoint === OPENAI ? { api_key_env: "OPENAI_API_KEY" } : {}),
    options: modelOptions ?? {},
  };
}
