import { MrlmError } from "@mrlm/spec";
import { nearestName } from "@mrlm/spec/host";
import type { z } from "zod";
import { firstNamed, quoted } from "../names/nearest.ts";
import { withoutZodPrefix, issueMessage, intendedIssues, valueAt } from "../plugins/schema-messages.ts";
import type { OptionIssue } from "../plugins/standard-options.ts";
import { optionAlias } from "./option-aliases.ts";
import { knownKeys } from "../plugins/schema-keys.ts";
import type { ConfigPath, SourceText } from "./source-text.ts";

/** Fault of a configuration, with its place. */
export interface ConfigProblem {
  readonly path: ConfigPath;
  /** Whether the fault is in the last key of the path or in its value. */
  readonly at: "key" | "value";
  readonly text: string;
  /** Whether the text names the key that is probably meant. */
  readonly hasGuess?: boolean;
}

/**
 * Creates a CONFIG_INVALID error with a line for each of the first ten problems: `config.yaml:3:5: unknown key "learnin_rate" ... Did you mean "learning_rate"?`
 * @param reference sentence that names the list of all keys
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

/** Largest number of known keys that the error of an unknown key lists. */
const MAX_LISTED = 12;

/** Describes an unknown key, with the most similar known one. */
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
  const hasGuess = (elsewhere ?? nearest) !== undefined;
  return { path: [...parent, key], at: "key", text: `unknown key ${quoted(key)}${where}.${advice}`, hasGuess };
}

/** Converts errors of zod to problems. */
export function problemsOf(schema: z.ZodType, value: unknown, error: z.ZodError): ConfigProblem[] {
  return error.issues.flatMap((issue) => describe(schema, value, issue));
}

/** Converts issues of a plugin's schema to problems below `base`. */
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
