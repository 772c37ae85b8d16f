import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileFault, MrlmError } from "@mrlm/spec";

const CONFIG = "adapter_config.json";

/** Whether a directory has an adapter of peft, and no model. */
export function isAdapter(directory: string): boolean {
  return existsSync(join(directory, CONFIG)) && !existsSync(join(directory, "config.json"));
}

/**
 * Returns the base model of an adapter that peft saved: a directory, relative to the adapter or the working directory, else `hub:ORG/NAME`. Throws
 * MODEL_DIRECTORY_INVALID for an adapter that names none.
 */
export function adapterBase(directory: string): string {
  const file = join(directory, CONFIG);
  let config: { readonly base_model_name_or_path?: unknown; readonly revision?: unknown };
  try {
    config = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new MrlmError("MODEL_DIRECTORY_INVALID", `${file} cannot be read: ${fileFault(cause)}.`, { cause });
  }
  const { base_model_name_or_path: base, revision } = config;
  const local =
    typeof base === "string" && base !== "" ? [resolve(directory, base), resolve(base)].find(existsSync) : "";
  if (local !== undefined && local !== "") return local;
  if (typeof base === "string" && /^[\w.-]+\/[\w.-]+$/.test(base))
    return `hub:${base}${typeof revision === "string" && revision !== "" ? `@${revision}` : ""}`;
  throw new MrlmError(
    "MODEL_DIRECTORY_INVALID",
    `The adapter in ${directory} names no base model that this machine or the hub can have: ${JSON.stringify(base)}.`,
    { hint: `Correct base_model_name_or_path in ${file}: a directory, or ORG/NAME.` },
  );
}
