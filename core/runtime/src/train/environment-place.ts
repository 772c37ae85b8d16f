import { type JsonValue, MrlmError } from "@mrlm/spec";
import type { LoadedConfig } from "../config/load-config.ts";
import type { ResolvedEnvironment } from "../config/resolved-config.ts";
import type { ConfigPath } from "../config/source-text.ts";
import { canonicalJson } from "../names/canonical-json.ts";
import { valueAt } from "../plugins/schema-messages.ts";
import { namedOption } from "../plugins/standard-options.ts";

/**
 * Finds an entry of `environments` in the configuration's source. Equal entries are merged in a resolved configuration, so its indices differ from those
 * of the source.
 * @param list path of the entries
 */
export function environmentPath(
  { source }: LoadedConfig,
  list: ConfigPath,
  environment: ResolvedEnvironment,
  index: number,
): ConfigPath {
  const written = valueAt(source.value, list);
  // If the evaluation has no list of environments, it uses the list of the training.
  const [place, entries] = Array.isArray(written)
    ? [list, written]
    : [["environments"], valueAt(source.value, ["environments"])];
  const found = ((entries ?? []) as Record<string, JsonValue>[]).findIndex(
    (entry) => identity(entry) === identity(environment as unknown as Record<string, JsonValue>),
  );
  return [...place, found < 0 ? index : found];
}

/**
 * Returns the line and column of an entry of `environments` or, for an error about its options, of the option that the
 * error names.
 */
export function environmentPlace(
  loaded: LoadedConfig,
  list: ConfigPath,
  environment: ResolvedEnvironment,
  index: number,
  error: unknown,
): string {
  const path = environmentPath(loaded, list, environment, index);
  const option = MrlmError.hasCode(error, "OPTIONS_INVALID") ? namedOption(error.message, environment.options) : [];
  const { source } = loaded;
  return option.length === 0 ? source.locate(path) : source.locate([...path, "options", ...option], "key");
}

function identity({ id = null, options, max_turns }: Readonly<Record<string, JsonValue>>): string {
  return canonicalJson([id, options ?? {}, max_turns ?? null]);
}
