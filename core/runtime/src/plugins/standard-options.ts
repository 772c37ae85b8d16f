import type { StandardSchemaV1 } from "@standard-schema/spec";

/** One thing that a schema objects to. */
export interface OptionIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Keys that the schema does not know, where the schema says so. */
  readonly unknownKeys?: readonly string[];
}

export type OptionsOutcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: readonly OptionIssue[] };

/** Validates by any Standard Schema, synchronous or not. */
export async function validateOptions(schema: StandardSchemaV1, value: unknown): Promise<OptionsOutcome> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.map(toIssue) };
}

/** Issues in one line: `difficulty: expected a number; seed: ...`. */
export function describeIssues(issues: readonly OptionIssue[]): string {
  return issues.map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message)).join("; ");
}

function toIssue(issue: StandardSchemaV1.Issue): OptionIssue {
  const path = (issue.path ?? []).map((segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return typeof key === "number" ? key : String(key);
  });
  // zod's issues carry the unknown keys beside what the standard asks for.
  const { keys } = issue as { readonly keys?: unknown };
  const unknownKeys = Array.isArray(keys) && keys.every((key) => typeof key === "string") ? { unknownKeys: keys } : {};
  return { path, message: issue.message, ...unknownKeys };
}
