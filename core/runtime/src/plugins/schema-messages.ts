import { nearestName } from "@mrlm/spec/host";
import type { z } from "zod";
import { firstNamed } from "../names/nearest.ts";

type Path = readonly (string | number)[];

/** Describes an issue of zod: `must be one of ddp, fsdp (did you mean ddp?), but it is "dpp"`. */
export function issueMessage(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "custom") return issue.message;
  return value === undefined ? "is missing" : `${expectation(issue, value)}, but it is ${show(value)}`;
}

/**
 * Returns the issues of the branch of a union that accepts the value's type, with complete paths. Returns the issue itself where there is no such branch or
 * no union.
 */
export function intendedIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const meant = issue.errors.find(
    (branch) => !branch.some((inner) => inner.path.length === 0 && inner.code === "invalid_type"),
  );
  return (
    meant?.flatMap((inner) =>
      intendedIssues({ ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue),
    ) ?? [issue]
  );
}

export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, segment)
        ? (value as Record<string | number, unknown>)[segment]
        : undefined,
    root,
  );
}

/** Removes zod's introduction from a message. */
export function withoutZodPrefix(message: string): string {
  return message.replace(/^Invalid (input|option): /, "").replace(/^Too (small|big): /, "");
}

function expectation(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "invalid_value") {
    const names = issue.values.map(String);
    const nearest = typeof value === "string" ? nearestName(value, names) : undefined;
    return `must be one of ${firstNamed(names, String).join(", ")}${nearest === undefined ? "" : ` (did you mean ${nearest}?)`}`;
  }
  if (issue.code === "invalid_type") return `must be ${typeName(issue.expected)}`;
  if (issue.code === "invalid_union") {
    const types = alternatives(issue);
    if (types.length > 0) return `must be ${types.join(" or ")}`;
  }
  if (issue.code === "too_small" && typeof issue.minimum === "number")
    return issue.origin === "number" || issue.origin === "int"
      ? `must be ${issue.inclusive ? "at least" : "above"} ${issue.minimum}`
      : `must have at least ${issue.minimum}`;
  if (issue.code === "too_big" && typeof issue.maximum === "number")
    return `must be ${issue.inclusive ? "at most" : "below"} ${issue.maximum}`;
  return withoutZodPrefix(issue.message);
}

/** Returns the types and values that the branches of a union accept. */
function alternatives({ errors }: z.core.$ZodIssueInvalidUnion): readonly string[] {
  const accepted = errors.flat().flatMap((inner) => {
    if (inner.code === "invalid_union") return alternatives(inner);
    if (inner.code === "invalid_type") return [typeName(inner.expected)];
    return inner.code === "invalid_value" ? inner.values.map(String) : [];
  });
  return [...new Set(accepted)];
}

function typeName(expected: string): string {
  return TYPE_NAMES[expected] ?? `of type ${expected}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object with keys",
  record: "an object with keys",
};

function show(value: unknown): string {
  // A text is cut before it is quoted: it may have megabytes.
  const text =
    typeof value === "string" ? JSON.stringify(value.slice(0, 64)) : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
