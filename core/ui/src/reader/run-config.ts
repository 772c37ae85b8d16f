import { readFileSync } from "node:fs";
import { fileFault, type JsonValue, MrlmError } from "@mrlm/spec";
import { RunDirectory } from "@mrlm/runtime";
import { isStore } from "@mrlm/store";
import { parse } from "yaml";

/** Resolved configuration of a run. */
export interface RunConfig {
  readonly yaml: string;
  /** Each value as JSON, by its keys with dots between them: `stages.0.options.steps`. */
  readonly values: Readonly<Record<string, string>>;
}

/** Reads the configuration of a run; an episode store has none. Throws DATA_INVALID if it cannot be read. */
export function runConfig(path: string): RunConfig {
  if (isStore(path)) return { yaml: "", values: {} };
  const { configPath } = RunDirectory.open(path);
  try {
    const yaml = readFileSync(configPath, "utf8");
    const values: Record<string, string> = {};
    addValues(values, "", parse(yaml) as JsonValue);
    return { yaml, values };
  } catch (cause) {
    throw new MrlmError("DATA_INVALID", `${configPath} cannot be read: ${fileFault(cause)}.`, { cause });
  }
}

function addValues(values: Record<string, string>, place: string, value: JsonValue): void {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0)
    values[place] = JSON.stringify(value);
  else
    for (const [key, member] of Object.entries(value))
      addValues(values, place === "" ? key : `${place}.${key}`, member);
}
