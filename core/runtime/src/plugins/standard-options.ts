import type { StandardSchemaV1 } from "@standard-schema/spec";
import { nearestName } from "@mrlm/spec/host";
import type { z } from "zod";
import { knownKeys } from "./schema-keys.ts";
import { firstNamed, quoted } from "../names/nearest.ts";
import { issueMessage, intendedIssues, valueAt } from "./schema-messages.ts";

/** Issue that a schema reports. */
export interface OptionIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Unknown keys, if the schema reports them. */
  readonly unknownKeys?: readonly string[];
}

export type OptionsOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly OptionIssue[] };

/** Validates options by any Standard Schema, synchronous or not. */
export async function validateOptions(schema: StandardSchemaV1, value: unknown): Promise<OptionsOutcome> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.flatMap((issue) => toIssues(issue, value)) };
}

/**
 * Describes issues in one line: `difficulty: must be a number, but it is "high"; unknown key "familys" (did you mean "families"?)`.
 *
 * @param schema schema whose keys are candidates for an unknown one
 */
export function describeIssues(issues: readonly OptionIssue[], schema?: StandardSchemaV1): string {
  const faults = issues.flatMap(
    ({ path, message, unknownKeys }) =>
      unknownKeys?.map((key) => ({ path: [...path, key], isUnknown: true, message })) ?? [
        { path, isUnknown: false, message },
      ],
  );
  return firstNamed(faults, ({ path, isUnknown, message }) => {
    if (isUnknown) return unknown(path, schema === undefined ? [] : keysOf(schema, path.slice(0, -1)), message);
    return path.length > 0 ? `${path.join(".")}: ${message}` : message;
  }).join("; ");
}

/** Returns the keys of a zod schema at a path; none for other schemas. */
export function keysOf(schema: StandardSchemaV1, path: readonly (string | number)[] = []): string[] {
  return "def" in schema ? knownKeys(schema as unknown as z.ZodType, path) : [];
}

/** Describes an unknown key. The text of a schema about a removed key stands in place of a suggestion. */
function unknown(path: readonly (string | number)[], known: readonly string[], message: string): string {
  const key = `unknown key ${quoted(path.join("."))}`;
  if (!message.startsWith("Unrecognized key")) return `${key} (${message})`;
  const nearest = nearestName(String(path.at(-1)), known);
  return nearest === undefined ? key : `${key} (did you mean "${nearest}"?)`;
}

/** Returns the path of the first option that a message from {@link describeIssues} names; `[]` if it names none. The message may be from a server. */
export function namedOption(message: string, options: unknown): readonly string[] {
  for (const [, unknownKey, key] of message.matchAll(/(?:: |; )(?:unknown key "([^"]+)"|([^\s:;"]+):)/g)) {
    const path = (unknownKey ?? key ?? "").split(".");
    if (valueAt(options, path) !== undefined) return path;
  }
  return [];
}

/** Converts an issue. Issues of zod contain more than the standard requires: unknown keys, allowed values, branches of a union. */
function toIssues(issue: StandardSchemaV1.Issue, root: unknown): OptionIssue[] {
  if (!("code" in issue)) return [{ path: pathOf(issue.path), message: issue.message }];
  return intendedIssues(issue as z.core.$ZodIssue).map((each) => {
    const path = pathOf(each.path);
    if (each.code === "unrecognized_keys") return { path, message: each.message, unknownKeys: each.keys };
    return { path, message: issueMessage(each, valueAt(root, path)) };
  });
}

function pathOf(path: StandardSchemaV1.Issue["path"] = []): (string | number)[] {
  return path.map((segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return typeof key === "number" ? key : String(key);
  });
}
