import { type JsonValue, MrlmError } from "@mrlm/spec";
import type { LoadedConfig } from "../config/load-config.ts";
import type { ResolvedEnvironment } from "../config/resolved-config.ts";
import type { ConfigPath } from "../config/source-text.ts";
import { canonicalJson } from "../names/canonical-json.ts";
import { namedOption } from "../plugins/standard-options.ts";

/**
 * Line and column of an entry of `environments`, or, for an error about its options, of the option that the error names. Entries that are the same are one in a
 * resolved configuration, so that its indices are not those of the text.
 *
 * @param list where entries stand in the text
 */
export function environmentPlace(
  { source, isTranslated }: LoadedConfig,
  list: ConfigPath,
  environment: ResolvedEnvironment,
  index: number,
  error: unknown,
): string {
  if (isTranslated.environments) return source.locate(["eval_envs", index]);
  const written = list.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined)?.[key],
    source.value,
  );
  // Without a list of its own, the evaluation has that of training.
  const [place, entries] = Array.isArray(written)
    ? [list, written]
    : [["environments"], (source.value as Record<string, unknown>)["environments"]];
  const found = ((entries ?? []) as Record<string, JsonValue>[]).findIndex(
    (entry) => identity(entry) === identity(environment as unknown as Record<string, JsonValue>),
  );
  const path = [...place, found < 0 ? index : found];
  const option = MrlmError.hasCode(error, "OPTIONS_INVALID") ? namedOption(error.message, environment.options) : [];
  return option.length === 0 ? source.locate(path) : source.locate([...path, "options", ...option], "key");
}

function identity({ id = null, options, max_turns }: Readonly<Record<string, JsonValue>>): string {
  return canonicalJson([id, options ?? {}, max_turns ?? null]);
}
