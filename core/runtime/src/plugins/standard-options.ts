import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { z } from "zod";
import { knownKeys } from "./schema-keys.ts";
import { firstNamed, nearestName, quoted } from "../names/nearest.ts";
import { issueMessage, intendedIssues, valueAt } from "./schema-messages.ts";

/** One thing that a schema objects to. */
export interface OptionIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Keys that the schema does not know, where the schema says so. */
  readonly unknownKeys?: readonly string[];
}

export type OptionsOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly OptionIssue[] };

/** Validates by any Standard Schema, synchronous or not. */
export async function validateOptions(schema: StandardSchemaV1, value: unknown): Promise<OptionsOutcome> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.flatMap((issue) => toIssues(issue, value)) };
}

/**
 * Issues in one line: `difficulty: must be a number, but it is "high"; unknown key "familys" (did you mean "families"?)`.
 *
 * @param schema whose keys an unknown one is compared with
 */
export function describeIssues(issues: readonly OptionIssue[], schema?: StandardSchemaV1): string {
  const faults = issues.flatMap(
    ({ path, message, unknownKeys }) =>
      unknownKeys?.map((key) => ({ path: [...path, key], isUnknown: true, message })) ?? [
        { path, isUnknown: false, message },
      ],
  );
  return firstNamed(faults, ({ path, isUnknown, message }) => {
    if (isUnknown) return unknown(path, schema === undefined ? [] : keysOf(schema, path.slice(0, -1)));
    return path.length > 0 ? `${path.join(".")}: ${message}` : message;
  }).join("; ");
}

/** Keys of a schema of zod's at a path; of another kind none are known. */
export function keysOf(schema: StandardSchemaV1, path: readonly (string | number)[] = []): string[] {
  return "def" in schema ? knownKeys(schema as unknown as z.ZodType, path) : [];
}

function unknown(path: readonly (string | number)[], known: readonly string[]): string {
  const nearest = nearestName(String(path.at(-1)), known);
  return `unknown key ${quoted(path.join("."))}${nearest === undefined ? "" : ` (did you mean "${nearest}"?)`}`;
}

/** Where among the options the first thing stands that {@link describeIssues} has named in a message, which may have come from a server; `[]` where none does. */
export function namedOption(message: string, options: unknown): readonly string[] {
  for (const [, unknownKey, key] of message.matchAll(/(?:: |; )(?:unknown key "([^"]+)"|([^\s:;"]+):)/g)) {
    const path = (unknownKey ?? key ?? "").split(".");
    if (valueAt(options, path) !== undefined) return path;
  }
  return [];
}

/** Issues of zod's say more than the standard asks for: the unknown keys, what would be allowed, the branches of a union. */
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
