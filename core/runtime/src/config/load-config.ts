import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { decodeUtf8 } from "@mrlm/kit/service";
import { fileFault, MrlmError, type PolicyId } from "@mrlm/spec";
import type { StoredModel } from "@mrlm/spec/host";
import { configError, type ConfigProblem, problemsOf } from "./config-problems.ts";
import { translateLegacy } from "./legacy/translate-legacy.ts";
import { type ResolvedConfig, resolveConfig } from "./resolve-config.ts";
import { engineProblems, withoutAddress } from "./engine-problems.ts";
import { learnerProblems } from "./learner-problems.ts";
import { policyProblems } from "./policy-problems.ts";
import { noteOverrides, type Override, withOverrides } from "./overrides.ts";
import { type ConfigInput, configSchema, type ParsedConfig } from "./schema.ts";
import { engineSection } from "./sections/operation.ts";
import { type ConfigPath, readYaml, type SourceText } from "./source-text.ts";

/** Configuration that matches the schema. `prepareRun` checks it against plugins, engine and environments. */
export interface LoadedConfig {
  readonly config: ResolvedConfig;
  /** The configuration in the current form. It locates keys and values in the user's file. */
  readonly source: SourceText;
  /** Text of the user's file, with the keys that were set over it as comments. */
  readonly text: string;
  /** Keys that are accepted and have no effect, with place and reason. */
  readonly notices: readonly string[];
  /** Path in `source` of an option of a learner; of the learner if `option` is empty. */
  learnerPath(stage: number, policy: PolicyId, option: ConfigPath): ConfigPath;
  /** Models that were fetched or converted for this configuration, by the names that it has for them. */
  readonly models?: Readonly<Record<string, StoredModel>>;
  /** Whether options that a plugin does not have are dropped with a notice instead of refused. */
  readonly dropsUnknownOptions: { readonly stages: boolean; readonly environments: boolean };
}

/** Options of reading a configuration. */
export interface ConfigOptions {
  /** Base of a relative output directory; default: the working directory of the process. */
  readonly workingDirectory?: string;
  /** Keys that replace those of the text: `stages.1.learning_rate=1e-4`, as in `--set`, or of other flags. */
  readonly overrides?: readonly (string | Override)[];
}

/** Reads a configuration file. Rejects with CONFIG_NOT_FOUND, or CONFIG_INVALID that names every wrong key with its line and column. */
export function loadConfig(path: string, options: ConfigOptions = {}): LoadedConfig {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new MrlmError("CONFIG_NOT_FOUND", `The configuration ${path} cannot be read: ${fileFault(error)}.`, {
      cause: error,
    });
  }
  return parseConfig(decodeUtf8(bytes, path, { code: "CONFIG_INVALID" }), { path, ...options });
}

/** Reads a configuration from a text. `path` is the file name in messages, the base of relative paths, and the default name of the run. */
export function parseConfig(text: string, options: ConfigOptions & { readonly path: string }): LoadedConfig {
  const { overrides = [] } = options;
  const written = withOverrides(readYaml(text, options.path), overrides);
  const { source, problems: repeated, notices, dropsUnknownOptions } = translateLegacy(written);
  const given = (source.value ?? {}) as ConfigInput;
  const parsed = configSchema.safeParse(given);
  if (!parsed.success) throw configError(source, problemsOf(configSchema, given, parsed.error));
  const problems = [...repeated, ...incompleteness(given, parsed.data)];
  if (problems.length > 0) throw configError(source, problems);
  const place = {
    fallbackName: basename(options.path).replace(/\.[^.]*$/, "") || "run",
    directory: dirname(resolve(options.path)),
    workingDirectory: options.workingDirectory ?? process.cwd(),
  };
  return {
    config: resolveConfig(parsed.data, place),
    source,
    text: noteOverrides(text, overrides),
    notices: [...notices, ...startNotices(given, source)],
    learnerPath: (stage, policy, option) => learnerPath(given, stage, policy, option),
    dropsUnknownOptions,
  };
}

function incompleteness(config: ConfigInput, parsed: ParsedConfig): ConfigProblem[] {
  const problems: ConfigProblem[] = policyProblems(config, parsed);
  if (config.stages === undefined && config.models === undefined)
    problems.push({ path: [], at: "value", text: "there is nothing to do: `stages` is missing" });
  if (config.server?.token_file !== undefined && config.server.address === undefined)
    problems.push(withoutAddress(["server", "token_file"]));
  problems.push(...engineProblems(config));
  const { mode, lag, on_stale: onStale, in_flight: inFlight } = parsed.play;
  if (onStale !== undefined && mode !== "async")
    problems.push({
      path: ["play", "on_stale"],
      at: "key",
      text: `play.on_stale is for \`mode: async\`: with \`${mode}\` no token is older than the lag`,
    });
  if (inFlight !== undefined && mode !== "async")
    problems.push({
      path: ["play", "in_flight"],
      at: "key",
      text: `play.in_flight is for \`mode: async\`: with \`${mode}\` weights change when nothing is sampled`,
    });
  if ((mode === "sync") !== (lag === 0))
    problems.push({
      path: ["play", "lag"],
      at: "value",
      text:
        mode === "sync"
          ? "play.lag is for `mode: pipelined` and `mode: async`: with `sync` every batch is played with the newest weights"
          : `play.lag of \`mode: ${mode}\` is at least 1`,
    });
  const { tls, address } = config.server ?? {};
  if (tls !== undefined && address === undefined) problems.push(withoutAddress(["server", "tls"]));
  if ((tls?.cert === undefined) !== (tls?.key === undefined))
    problems.push({
      path: ["server", "tls"],
      at: "key",
      text: "server.tls has one of `cert` and `key`: mutual TLS needs both",
    });
  if (parsed.eval.tasks === 0 && parsed.eval.every > 0)
    problems.push({
      path: ["eval", "every"],
      at: "key",
      text: "eval.every has no effect: eval.tasks is 0, and nothing is evaluated",
    });
  problems.push(...samplingProblems(parsed));
  problems.push(...learnerProblems(config));
  return problems;
}

/** Finds sampling sections with a minimum of tokens above the maximum. */
function samplingProblems({ sampling, policies = {}, stages = [] }: ParsedConfig): ConfigProblem[] {
  const all: { readonly path: ConfigPath; readonly own: Partial<typeof sampling> | undefined }[] = [
    { path: ["sampling"], own: sampling },
    ...Object.entries(policies).map(([name, { sampling: own }]) => ({ path: ["policies", name, "sampling"], own })),
    ...stages.flatMap(({ sampling: own, learners = {} }, i) => [
      { path: ["stages", i, "sampling"], own },
      ...Object.entries(learners).map(([name, learner]) => ({
        path: ["stages", i, "learners", name, "sampling"],
        own: learner.sampling,
      })),
    ]),
  ];
  return all.flatMap(({ path, own }) => {
    const { min_tokens = 0, max_tokens } = { ...sampling, ...own };
    const isSetHere = own?.min_tokens !== undefined || own?.max_tokens !== undefined;
    return isSetHere && min_tokens > max_tokens
      ? [
          {
            path: [...path, own?.min_tokens === undefined ? "max_tokens" : "min_tokens"],
            at: "value" as const,
            text: `sampling.min_tokens (${min_tokens}) is above max_tokens (${max_tokens})`,
          },
        ]
      : [];
  });
}

/** Returns notices of options for starting an engine or a server that is already running. Options at their defaults need none. */
function startNotices({ engine, engines = {}, server }: ConfigInput, source: SourceText): string[] {
  const standard = engineSection.parse({});
  const started = (path: ConfigPath, entry: NonNullable<ConfigInput["engine"]>) =>
    entry.address === undefined
      ? []
      : (["provider", "device", "mode", "threads"] as const)
          .filter((key) => (entry[key] ?? standard[key]) !== standard[key])
          .map((key) => ({ path: [...path, key], address: entry.address }));
  const unused = [
    ...(engine === undefined ? [] : started(["engine"], engine)),
    ...Object.entries(engines).flatMap(([name, entry]) => started(["engines", name], entry)),
    ...(server?.address !== undefined && server.spawn === true
      ? [{ path: ["server", "spawn"], address: [server.address].flat().join(", ") }]
      : []),
  ];
  return unused.map(
    ({ path, address }) =>
      `${source.locate(path, "key")}: ${path.join(".")} has no effect: the one at ${address} is running already.`,
  );
}

/** Returns the path of an option of a learner, which may be at the level of `algorithm` or in `options`. */
function learnerPath({ stages }: ConfigInput, stage: number, policy: PolicyId, option: ConfigPath): ConfigPath {
  const [first] = option;
  const { learners, options } = stages?.[stage] ?? {};
  const isNested = first !== undefined && Object.hasOwn((learners?.[policy] ?? { options }).options ?? {}, first);
  const place = ["stages", stage, ...(learners === undefined ? [] : ["learners", policy])];
  return [...place, ...(isNested ? ["options"] : []), ...option];
}
