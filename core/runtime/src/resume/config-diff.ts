import type { JsonValue } from "@mrlm/spec";
import { canonicalJson } from "../names/canonical-json.ts";

/** A field whose value differs between two configurations; `undefined` where one has none. */
export interface Change {
  /** Path, such as `stages[1].options.learning_rate`. */
  readonly field: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** Returns every field whose value differs. */
export function diffConfigs(before: JsonValue | undefined, after: JsonValue | undefined, field = ""): Change[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const both = [before, after].map((value) => membersOf(value, field));
  const [one, other] = both as [Map<string, JsonValue> | undefined, Map<string, JsonValue> | undefined];
  if (one === undefined || other === undefined || Array.isArray(before) !== Array.isArray(after))
    return [{ field, before, after }];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((path) =>
    diffConfigs(one.get(path), other.get(path), path),
  );
}

export function describeChange({ field, before, after }: Change): string {
  const shown = (value: JsonValue | undefined): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return `${field}: ${shown(before)} -> ${shown(after)}`;
}

function membersOf(value: JsonValue | undefined, field: string): Map<string, JsonValue> | undefined {
  if (Array.isArray(value)) return new Map(value.map((member, i) => [`${field}[${i}]`, member]));
  if (typeof value !== "object" || value === null) return undefined;
  return new Map(
    Object.entries(value).map(([key, member]) => [field === "" ? key : `${field}.${key}`, member as JsonValue]),
  );
}
