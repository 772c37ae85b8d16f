import type { EnvironmentRef } from "@mrlm/spec/host";
import { invalid } from "./invalid.ts";

/** Most characters of the options of a client. */
const MAX_CHARACTERS = 1 << 20;
/** Most values in the options of a client, lists and objects included. */
const MAX_VALUES = 10_000;

/**
 * Returns an environment with the options of a client. Throws MESSAGE_INVALID for more than 1 MiB or 10,000 values: checks of options read all of them in one
 * piece, in which the server answers no other client.
 */
export function checkedRef(ref: EnvironmentRef): EnvironmentRef {
  let [values, characters] = [0, 0];
  const count = (value: unknown): void => {
    values++;
    if (typeof value === "string") characters += value.length;
    if (values > MAX_VALUES || characters > MAX_CHARACTERS)
      throw invalid(`the options have more than ${MAX_VALUES} values or ${MAX_CHARACTERS} characters`);
    if (typeof value !== "object" || value === null) return;
    for (const key in value) {
      if (!Array.isArray(value)) characters += key.length;
      count((value as Readonly<Record<string, unknown>>)[key]);
    }
  };
  if (ref.options !== undefined) count(ref.options);
  return ref;
}
