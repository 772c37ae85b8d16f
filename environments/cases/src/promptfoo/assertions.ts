import { dirname, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@mrlm/kit";
import { parseJson } from "@mrlm/kit/service";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { parse } from "yaml";
import { invalidCase } from "../case.ts";
import { loadModule } from "../load-module.ts";
import type { Leaf } from "./configuration.ts";
import { render, type Vars } from "./template.ts";

/** Outcome of an assertion. */
export interface Outcome {
  readonly pass: boolean;
  readonly score: number;
}

/** Context that functions of a test receive beside the output. */
export interface Context {
  readonly prompt: string;
  readonly vars: Vars;
  readonly test: object;
}

/** Assertion whose value is read. */
export type Check = (output: string, context: Context) => Outcome | Promise<Outcome>;

/** Surroundings of an assertion: variables of its test, its place for messages, the file and its version. */
export interface Surroundings {
  readonly vars: Vars;
  readonly place: string;
  readonly path: string;
  readonly version: string;
}

/** Returns whether an output passes, from the value of an assertion. Throws DATA_INVALID for a value of another form. */
type Compile = (value: unknown, place: string) => (output: string) => boolean;

const ajv = formats.default(new Ajv({ allErrors: true, strict: false, logger: false }));

/** Assertions that decide by the text of the output. */
const TEXTS: Readonly<Record<string, Compile>> = {
  equals: (value) => (output) =>
    typeof value === "object" ? isDeepStrictEqual(value, parsed(output)) : output === String(value),
  contains: (value, place) => includes(textOf(value, place)),
  icontains: (value, place) => ignoringCase(includes(textOf(value, place).toLowerCase())),
  "starts-with": (value, place) => {
    const start = textOf(value, place);
    return (output) => output.startsWith(start);
  },
  "contains-any": (value, place) => someOf(listOf(value, place)),
  "icontains-any": (value, place) => ignoringCase(someOf(lowerCased(listOf(value, place)))),
  "contains-all": (value, place) => everyOf(listOf(value, place)),
  "icontains-all": (value, place) => ignoringCase(everyOf(lowerCased(listOf(value, place)))),
  regex: (value, place) => {
    const pattern = attempt(() => new RegExp(textOf(value, place)), place, "the value is no regular expression");
    return (output) => pattern.test(output);
  },
  "is-json": (value, place) => {
    const isAny = value === undefined || value === null || value === "";
    const schema = typeof value === "string" ? parse(value) : value;
    const validate = isAny
      ? () => true
      : attempt(() => ajv.compile(schema as object), place, "the value is no JSON Schema");
    return (output) => {
      const found = parsed(output);
      return found !== undefined && Boolean(validate(found));
    };
  },
};

/** Compiles an assertion. Rejects with DATA_INVALID for one that is not supported. */
export async function compileAssertion({ type, value, threshold }: Leaf, given: Surroundings): Promise<Check> {
  const isInverse = type.startsWith("not-");
  const base = isInverse ? type.slice("not-".length) : type;
  const { vars, place } = given;
  const rendered = renderValue(value, vars, place);
  if (base === "javascript") {
    const run = await compileFunction(rendered, given);
    return async (output, context) => {
      const found = await resultOf(() => run(output, context), threshold);
      if (found === undefined) return exactly(false);
      if (typeof found === "boolean") return exactly(found !== isInverse);
      return { pass: found.pass !== isInverse, score: found.score };
    };
  }
  const compile = TEXTS[base];
  if (compile === undefined)
    throw invalidCase(
      place,
      `the assertion ${type} cannot be read`,
      `Use one of ${Object.keys(TEXTS).join(", ")} and javascript, or write the cases as a suite of evalite; \`fromPromptfoo\` of @mrlm/ai-sdk makes a scorer of the others.`,
    );
  const passes = compile(rendered, place);
  return (output) => exactly(passes(output) !== isInverse);
}

function exactly(pass: boolean): Outcome {
  return { pass, score: pass ? 1 : 0 };
}

/** Returns the result of a function; `undefined` for one that throws or returns something else, which is a failed assertion in promptfoo, inverse or not. */
async function resultOf(run: () => unknown, threshold: number | undefined): Promise<boolean | Outcome | undefined> {
  try {
    const result = await run();
    if (typeof result === "boolean") return result;
    if (typeof result === "number" && Number.isFinite(result))
      return { pass: threshold === undefined ? result > 0 : result >= threshold, score: result };
    const { pass, score } = isObject(result) ? result : {};
    return typeof pass === "boolean" && typeof score === "number" && Number.isFinite(score)
      ? { pass, score }
      : undefined;
  } catch {
    return undefined;
  }
}

async function compileFunction(
  value: unknown,
  { place, path, version }: Surroundings,
): Promise<(output: string, context: Context) => unknown> {
  if (typeof value !== "string" || value.trim() === "")
    throw invalidCase(place, "the value of javascript is no text", "Write an expression, or file://NAME.js.");
  const [, file, name = "default"] = /^file:\/\/(.+?\.[cm]?[jt]s)(?::(\w+))?$/.exec(value) ?? [];
  if (file !== undefined) {
    const module = await loadModule(resolve(dirname(path), file), version);
    const found = module[name];
    if (typeof found === "function") return found as (output: string, context: Context) => unknown;
    throw invalidCase(
      place,
      `${file} exports no function ${name}`,
      "Export it: `export default (output, context) => ...`.",
    );
  }
  const code = value.trimEnd();
  // promptfoo runs several lines as they are, and one as an expression.
  const body = code.includes("\n") ? code : `return ${code.trim().replace(/;+$/, "")}`;
  return attempt(
    // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- an assertion is code of the user, as the configuration is
    () => new Function("output", "context", body) as (output: string, context: Context) => unknown,
    place,
    "the value of javascript is no code",
    "Write one expression, or several lines with `return`.",
  );
}

function renderValue(value: unknown, vars: Vars, place: string): unknown {
  if (typeof value === "string") return render(value, vars, place);
  return Array.isArray(value) ? value.map((each: unknown) => renderValue(each, vars, place)) : value;
}

function attempt<T>(make: () => T, place: string, what: string, hint?: string): T {
  try {
    return make();
  } catch (error) {
    throw invalidCase(place, `${what}: ${(error as Error).message}`, hint);
  }
}

function textOf(value: unknown, place: string): string {
  if ((typeof value === "string" && value !== "") || typeof value === "number") return String(value);
  throw invalidCase(place, "the value is neither a text nor a number", "Give the assertion a value.");
}

function listOf(value: unknown, place: string): string[] {
  const list: unknown = typeof value === "string" ? value.split(",").map((each) => each.trim()) : value;
  if (Array.isArray(list) && list.length > 0) return list.map((each) => textOf(each, place));
  throw invalidCase(place, "the value is no list of texts", "Give the assertion a list.");
}

function lowerCased(texts: readonly string[]): string[] {
  return texts.map((text) => text.toLowerCase());
}

function includes(text: string): (output: string) => boolean {
  return (output) => output.includes(text);
}

function someOf(texts: readonly string[]): (output: string) => boolean {
  return (output) => texts.some((text) => output.includes(text));
}

function everyOf(texts: readonly string[]): (output: string) => boolean {
  return (output) => texts.every((text) => output.includes(text));
}

function ignoringCase(passes: (output: string) => boolean): (output: string) => boolean {
  return (output) => passes(output.toLowerCase());
}

/** Returns the value of JSON text; `undefined` for other text. */
function parsed(output: string): unknown {
  try {
    return parseJson(output);
  } catch {
    return undefined;
  }
}
