import type { z } from "zod";
import { firstNamed, nearestName } from "../names/nearest.ts";

type Path = readonly (string | number)[];

/** What an issue of zod objects to in a value, in our words: `must be one of ddp, fsdp (did you mean ddp?), but it is "dpp"`. */
export function issueWords(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "custom") return issue.message;
  return value === undefined ? "is missing" : `${expectation(issue, value)}, but it is ${show(value)}`;
}

/**
 * The issues of the branch of a union that was meant, with whole paths: the one that accepts the value's own type. The issue itself where there is none, or it
 * is no union.
 */
export function meantIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const meant = issue.errors.find(
    (branch) => !branch.some((inner) => inner.path.length === 0 && inner.code === "invalid_type"),
  );
  return (
    meant?.flatMap((inner) => meantIssues({ ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue)) ?? [
      issue,
    ]
  );
}

/** What stands at a path. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, segment)
        ? (value as Record<string | number, unknown>)[segment]
        : undefined,
    root,
  );
}

/** Without zod's way of beginning. */
export function inOurWords(message: string): string {
  return message.replace(/^Invalid (input|option): /, "").replace(/^Too (small|big): /, "");
}

function expectation(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "invalid_value") {
    const names = issue.values.map(String);
    const nearest = typeof value === "string" ? nearestName(value, names) : undefined;
    return `must be one of ${firstNamed(names, String).join(", ")}${nearest === undefined ? "" : ` (did you mean ${nearest}?)`}`;
  }
  if (issue.code === "invalid_type") return `must be ${TYPE_NAMES[issue.expected] ?? `of type ${issue.expected}`}`;
  if (issue.code === "too_small" && typeof issue.minimum === "number")
    return issue.origin === "number" || issue.origin === "int"
      ? `must be ${issue.inclusive ? "at least" : "above"} ${issue.minimum}`
      : `must have at least ${issue.minimum}`;
  if (issue.code === "too_big" && typeof issue.maximum === "number")
    return `must be ${issue.inclusive ? "at most" : "below"} ${issue.maximum}`;
  return inOurWords(issue.message);
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
