import { MrlmError } from "@mrlm/spec";
import { parseDocument } from "yaml";
import { valueAt } from "../plugins/schema-messages.ts";
import { showPath } from "./config-problems.ts";
import type { ConfigPath, SourceText } from "./source-text.ts";

/** Key that replaces that of the file, from `--set stages.1.learning_rate=1e-4` or another flag. */
export interface Override {
  /** `--set stages.1.learning_rate`, for messages. */
  readonly flag: string;
  readonly path: ConfigPath;
  readonly value: unknown;
}

const EXAMPLE = "For example --set stages.1.learning_rate=1e-4; the value is YAML.";

/**
 * Sets keys of a configuration. Errors about them are located at their flags.
 * @param assignments `stages.1.learning_rate=1e-4` or `stages[1].learning_rate=1e-4`: keys and numbers of list entries, then a value in YAML; or overrides of other
 * flags. Later assignments take precedence.
 * @throws USAGE for text that is not an assignment, or for a path that the configuration cannot have
 */
export function withOverrides(source: SourceText, assignments: readonly (string | Override)[]): SourceText {
  if (assignments.length === 0) return source;
  const overrides = assignments.map((each) => (typeof each === "string" ? parseAssignment(each) : each));
  let value = source.value;
  for (const override of overrides) value = assign(value, override, []);
  const setBy = (path: ConfigPath): Override | undefined =>
    overrides.findLast((override) => isWithin(override.path, path)) ?? madeBy(path);
  // A value that the text lacks is reported at the flag that set the nearest object around it.
  const madeBy = (path: ConfigPath): Override | undefined =>
    path.length === 0 || isThere(source.value, path)
      ? undefined
      : (overrides.findLast((override) => isWithin(path, override.path)) ?? madeBy(path.slice(0, -1)));
  // An error about a whole entry may be due to an overridden key in it.
  const inside = (path: ConfigPath): string =>
    (path.length === 0 ? [] : overrides.filter((override) => isWithin(path, override.path)))
      .map(({ flag }) => `, with ${flag}`)
      .join("");
  return {
    name: source.name,
    value,
    locate: (path, what) => setBy(path)?.flag ?? `${source.locate(path, what)}${inside(path)}`,
  };
}

/** Appends the assignments to the text as comments, so that the stored source is complete. */
export function noteOverrides(text: string, assignments: readonly (string | Override)[]): string {
  const lines = assignments.flatMap((each) =>
    (typeof each === "string" ? `--set ${each}` : `${each.flag}=${JSON.stringify(each.value)}`).split("\n"),
  );
  return lines.length === 0 ? text : `${text.replace(/\n?$/, "\n")}${lines.map((line) => `# ${line}\n`).join("")}`;
}

function parseAssignment(given: string): Override {
  const [, name = "", text = ""] = /^([^=]*)=([^]*)$/.exec(given) ?? [];
  const path = name
    .replaceAll(/\[(\d+)\]/g, ".$1")
    .split(".")
    .map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment.trim()));
  if (!given.includes("=") || path.includes(""))
    throw new MrlmError("USAGE", `--set ${given} is not KEY=VALUE.`, { hint: EXAMPLE });
  const flag = `--set ${name}`;
  return { flag, path, value: yamlValue(text, flag, EXAMPLE) };
}

/** Parses the value of a flag. Throws USAGE. */
export function yamlValue(text: string, flag: string, hint: string): unknown {
  const document = parseDocument(text, { prettyErrors: false });
  const [error] = document.errors;
  if (error === undefined) return document.toJS();
  throw new MrlmError("USAGE", `${flag}: the value ${text} is not valid YAML: ${error.message}`, { hint });
}

/** Returns `value`, which is at the path `done`, with the override applied. */
function assign(value: unknown, override: Override, done: ConfigPath): unknown {
  const { flag, path } = override;
  if (done.length === path.length) return override.value;
  const segment = path[done.length] as string | number;
  const inner = [...done, segment];
  if (Array.isArray(value)) {
    if (typeof segment === "number" && segment < value.length)
      return value.with(segment, assign(value[segment], override, inner));
    throw new MrlmError(
      "USAGE",
      `${flag}: ${showPath(done)} is a list of ${value.length}, and ${segment} is not one of its entries.`,
      { hint: `Entries are named by their number, from 0${value.length > 1 ? ` to ${value.length - 1}` : ""}.` },
    );
  }
  if (typeof value === "object" && value !== null)
    return { ...value, [segment]: assign(valueAt(value, [segment]), override, inner) };
  if (value === undefined || value === null) return { [segment]: assign(undefined, override, inner) };
  throw new MrlmError(
    "USAGE",
    `${flag}: ${showPath(done)} is ${JSON.stringify(value)}, which has no key "${segment}".`,
    { hint: `Set ${showPath(done)} itself.` },
  );
}

function isWithin(outer: ConfigPath, path: ConfigPath): boolean {
  return outer.length <= path.length && outer.every((segment, i) => String(segment) === String(path[i]));
}

function isThere(root: unknown, path: ConfigPath): boolean {
  let value = root;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return false;
    value = (value as Record<string | number, unknown>)[segment];
  }
  return true;
}
