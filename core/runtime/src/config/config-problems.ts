import { MrlmError } from "@mrlm/spec";
import type { z } from "zod";
import { firstNamed, nearestName, quoted } from "../names/nearest.ts";
import { withoutZodPrefix, issueMessage, intendedIssues, valueAt } from "../plugins/schema-messages.ts";
import type { OptionIssue } from "../plugins/standard-options.ts";
import { optionAlias } from "./option-aliases.ts";
import { knownKeys } from "../plugins/schema-keys.ts";
import type { ConfigPath, SourceText } from "./source-text.ts";

/** One thing that is wrong with a configuration, and where. */
export interface ConfigProblem {
  readonly path: ConfigPath;
  /** Of the last key of the path, or of its value. */
  readonly at: "key" | "value";
  readonly text: string;
}

/**
 * CONFIG_INVALID with a line for each of the first ten problems: `config.yaml:3:5: unknown key "learnin_rate" ... Did you mean "learning_rate"?`
 * @param reference where all keys are listed
 */
export function configError(
  source: Pick<SourceText, "name" | "locate">,
  problems: readonly ConfigProblem[],
  reference = "docs/reference/config.md has every key.",
): MrlmError {
  const lines = firstNamed(problems, ({ path, at, text }) => `${source.locate(path, at)}: ${text}`);
  const what = problems.every(({ at }) => at === "value") ? "value" : "key";
  const hint = problems.length === 1 ? `Correct the ${what} at that place.` : `Correct the ${what}s at these places.`;
  return new MrlmError("CONFIG_INVALID", [...new Set(lines)].join("\n"), { hint: `${hint} ${reference}` });
}

/** So many keys are listed after one that is unknown. */
const MAX_LISTED = 12;

/** An unknown key, with the nearest that is known. */
export function unknownKey(parent: ConfigPath, key: string, known: Iterable<string>): ConfigProblem {
  const candidates = [...known];
  const elsewhere = optionAlias(key, candidates);
  const nearest = nearestName(key, candidates);
  const where = parent.length > 0 ? ` in ${showPath(parent)}` : "";
  const advice =
    elsewhere !== undefined
      ? ` Here it is called "${elsewhere}".`
      : nearest !== undefined
        ? ` Did you mean "${nearest}"?`
        : candidates.length > 0 && candidates.length <= MAX_LISTED
          ? ` Known keys: ${candidates.join(", ")}.`
          : "";
  return { path: [...parent, key], at: "key", text: `unknown key ${quoted(key)}${where}.${advice}` };
}

/** What zod objects to, in our words. */
export function problemsOf(schema: z.ZodType, value: unknown, error: z.ZodError): ConfigProblem[] {
  return error.issues.flatMap((issue) => describe(schema, value, issue));
}

/** What an algorithm's or a plugin's own schema objects to, below `base`. */
export function optionProblems(
  base: ConfigPath,
  known: (path: ConfigPath) => Iterable<string>,
  issues: readonly OptionIssue[],
): ConfigProblem[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.unknownKeys !== undefined) {
      const candidates = [...known(issue.path)];
      return issue.unknownKeys.map((key) => unknownKey(path, key, candidates));
    }
    return [{ path, at: "value" as const, text: `${showPath(path)}: ${withoutZodPrefix(issue.message)}` }];
  });
}

/** `stages[0].batch_size`. */
export function showPath(path: ConfigPath): string {
  return path
    .map((segment, i) => (typeof segment === "number" ? `[${segment}]` : `${i > 0 ? "." : ""}${segment}`))
    .join("");
}

function describe(schema: z.ZodType, root: unknown, issue: z.core.$ZodIssue): ConfigProblem[] {
  const path = issue.path as ConfigPath;
  if (issue.code === "unrecognized_keys") {
    const candidates = knownKeys(schema, path);
    return issue.keys.map((key) => unknownKey(path, key, candidates));
  }
  const meant = intendedIssues(issue);
  if (meant[0] !== issue) return meant.flatMap((inner) => describe(schema, root, inner));
  const value = valueAt(root, path);
  const isMissing = issue.code === "invalid_key" || value === undefined;
  return [
    {
      path,
      at: isMissing ? "key" : "value",
      text: `${path.length === 0 ? "" : `${showPath(path)}: `}${isMissing ? "is missing" : issueMessage(issue, value)}`,
    },
  ];
}
