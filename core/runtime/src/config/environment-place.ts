import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import type { LoadedConfig } from "./load-config.ts";
import { environmentKey, type ResolvedEnvironment, resolveEnvironment } from "./resolve-config.ts";
import type { ConfigPath } from "./source-text.ts";
import { valueAt } from "../plugins/schema-messages.ts";
import { namedOption } from "../plugins/standard-options.ts";

/** Lists of environments in a configuration. */
export type EnvironmentList = "environments" | "eval.environments";

/**
 * Finds an entry of `environments` in the configuration's source. Equal entries are merged in a resolved configuration, so its indices differ from those
 * of the source.
 * @param index of the entry in the resolved list
 */
export function environmentPath({ source, config }: LoadedConfig, list: EnvironmentList, index: number): ConfigPath {
  const resolved: readonly ResolvedEnvironment[] =
    list === "environments" ? config.environments : config.eval.environments;
  // If the evaluation has no list of environments, it uses the list of the training.
  const written = valueAt(source.value, list.split("."));
  const place = Array.isArray(written) ? list.split(".") : ["environments"];
  const entries = (valueAt(source.value, place) ?? []) as Parameters<typeof resolveEnvironment>[0][];
  const wanted = environmentKey(resolved[index] as ResolvedEnvironment);
  const found = entries.findIndex((entry) => {
    const { reward_sharing, ...measured } = resolveEnvironment(entry, config.base_directory);
    const isTrained = list === "environments" && reward_sharing !== undefined;
    return environmentKey(isTrained ? { ...measured, reward_sharing } : measured) === wanted;
  });
  return [...place, found < 0 ? index : found];
}

/**
 * Returns the line and column of an entry of `environments` or, for an error about its options, of the option that the
 * error names.
 */
export function environmentPlace(
  loaded: LoadedConfig,
  list: EnvironmentList,
  index: number,
  options: JsonObject,
  error: unknown,
): string {
  const path = environmentPath(loaded, list, index);
  const { source } = loaded;
  const service = serviceOption(error, options);
  if (service !== undefined) return source.locate([...path, "options", ...service]);
  const option = MrlmError.hasCode(error, "OPTIONS_INVALID") ? namedOption(error.message, options) : [];
  return option.length === 0 ? source.locate(path) : source.locate([...path, "options", ...option], "key");
}

/** Returns the path of the option whose value is the service that an error names: one that no plugin provides, or a toolset that has a tool of another. */
function serviceOption(error: unknown, options: JsonObject): ConfigPath | undefined {
  if (!MrlmError.hasCode(error, "REQUIREMENT_MISSING", "TOOL_CONFLICT")) return undefined;
  const [, missing, second] = / requires \w+ "([^"]+)"|^Toolsets .+ and (\S+) .*both have/.exec(error.message) ?? [];
  const name = missing ?? second;
  return name === undefined ? undefined : pathOfValue(options, name);
}

function pathOfValue(value: JsonValue, wanted: string): ConfigPath | undefined {
  if (value === wanted) return [];
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const path = pathOfValue(inner as JsonValue, wanted);
    if (path !== undefined) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}
