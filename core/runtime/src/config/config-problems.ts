import { MrlmError } from "@mrlm/spec";
import type { z } from "zod";
import { nearestName } from "../names/nearest.ts";
import type { OptionIssue } from "../plugins/standard-options.ts";
import { knownKeys } from "./schema-keys.ts";
import type { ConfigPath, SourceText } from "./source-text.ts";

/** One thing that is wrong with a configuration, and where. */
export interface ConfigProblem {
  readonly path: ConfigPath;
  /** Of the last key of the path, or of its value. */
  readonly at: "key" | "value";
  readonly text: string;
}

/** CONFIG_INVALID with a line for each problem: `config.yaml:3:5: unknown key "learnin_rate" ... Did you mean "learning_rate"?` */
export function configError(source: Pick<SourceText, "name" | "locate">, problems: readonly ConfigProblem[]): MrlmError {
  const lines = problems.map((problem) => `${source.locate(problem.path, problem.at)}: ${problem.text}`);
  const hint = problems.length === 1 ? "Correct the key at that place." : "Correct the keys at these places.";
  return new MrlmError("CONFIG_INVALID", [...new Set(lines)].join("\n"), { hint: `${hint} docs/reference/config.md has every key.` });
}

/** An unknown key, with the nearest that is known. */
export function unknownKey(parent: ConfigPath, key: string, known: Iterable<string>): ConfigProblem {
  const candidates = [...known];
  const nearest = nearestName(key, candidates);
  const where = parent.length > 0 ? ` in ${showPath(parent)}` : "";
  const advice =
    nearest !== undefined
      ? ` Did you mean "${nearest}"?`
      : candidates.length > 0 && candidates.length <= 12
        ? ` Known keys: ${candidates.join(", ")}.`
        : "";
  return { path: [...parent, key], at: "key", text: `unknown key "${key}"${where}.${advice}` };
}

/** What zod objects to, in our words. */
export function problemsOf(schema: z.ZodType, value: unknown, error: z.ZodError): ConfigProblem[] {
  return error.issues.flatMap((issue) => describe(schema, value, issue));
}

/** What an algorithm's or a plugin's own schema objects to, below `base`. */
export function optionProblems(base: ConfigPath, known: Iterable<string>, issues: readonly OptionIssue[]): ConfigProblem[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.unknownKeys !== undefined) return issue.unknownKeys.map((key) => unknownKey(path, key, issue.path.length === 0 ? known : []));
    return [{ path, at: "value" as const, text: `${showPath(path)}: ${inOurWords(issue.message)}` }];
  });
}

/** `stages[0].batch_size`. */
export function showPath(path: ConfigPath): string {
  return path.map((segment, i) => (typeof segment === "number" ? `[${segment}]` : `${i > 0 ? "." : ""}${segment}`)).join("");
}

function describe(schema: z.ZodType, root: unknown, issue: z.core.$ZodIssue): ConfigProblem[] {
  const path = issue.path as ConfigPath;
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(path, key, knownKeys(schema, path)));
  const value = valueAt(root, path);
  if (issue.code === "invalid_union") {
    // The branch that got furthest is the one that was meant: it accepts the value's own type.
    const meant = issue.errors.find((branch) => !branch.some((inner) => inner.path.length === 0 && inner.code === "invalid_type"));
    if (meant !== undefined)
      return meant.flatMap((inner) => describe(schema, root, { ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue));
  }
  if (issue.code === "invalid_key" || value === undefined) return [{ path, at: "key", text: `${showPath(path)}: is missing` }];
  return [{ path, at: "value", text: `${showPath(path)}: ${expectation(issue, value)}, but it is ${show(value)}` }];
}

function expectation(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "invalid_value") {
    const names = issue.values.map(String);
    const nearest = typeof value === "string" ? nearestName(value, names) : undefined;
    return `must be one of ${names.join(", ")}${nearest === undefined ? "" : ` (did you mean ${nearest}?)`}`;
  }
  if (issue.code === "invalid_type") return `must be ${TYPE_NAMES[issue.expected] ?? `of type ${issue.expected}`}`;
  if (issue.code === "too_small" && typeof issue.minimum === "number")
    return issue.origin === "number" || issue.origin === "int"
      ? `must be ${issue.inclusive ? "at least" : "above"} ${issue.minimum}`
      : `must have at least ${issue.minimum}`;
  if (issue.code === "too_big" && typeof issue.maximum === "number") return `must be ${issue.inclusive ? "at most" : "below"} ${issue.maximum}`;
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

function inOurWords(message: string): string {
  return message.replace(/^Invalid (input|option): /, "").replace(/^Too (small|big): /, "");
}

function valueAt(root: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>(
    (value, segment) => (typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[segment] : undefined),
    root,
  );
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
