import { readFile } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";
import { isObject } from "@mrlm/kit";
import { fileFault } from "@mrlm/kit/service";
import { parse } from "yaml";
import { z } from "zod";
import { invalidCase } from "../case.ts";

const leaf = z.strictObject({
  type: z.string().min(1),
  value: z.unknown().optional(),
  threshold: z.number().optional(),
  weight: z.number().min(0).optional(),
  metric: z.string().min(1).optional(),
});

/** Assertion that is no set. */
export type Leaf = z.output<typeof leaf>;

/** Set of assertions with a score of its own. */
export interface AssertSet extends Omit<Leaf, "value"> {
  readonly type: "assert-set";
  readonly assert: readonly Leaf[];
}

/** Assertion of a test, or a set of them. */
export type Assertion = Leaf | AssertSet;

const assertSet = leaf.omit({ value: true }).extend({ type: z.literal("assert-set"), assert: z.array(leaf).min(1) });

/** Options of a test that change the prompt or the answer. */
const CHANGING = ["transform", "transformVars", "postprocess", "prefix", "suffix", "disableDefaultAsserts"] as const;

const testSchema = z.looseObject({
  vars: z.record(z.string(), z.unknown()).default({}),
  assert: z.array(z.unknown()).default([]),
  threshold: z.number().nullish(),
});

/** Test of a configuration. */
export interface Test {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly assert: readonly Assertion[];
  readonly threshold: number | undefined;
}

/** Parts of a configuration that decide cases and scores. Providers and outputs do not. */
export interface Configuration {
  readonly prompt: string;
  readonly defaultTest: Test;
  readonly tests: readonly { readonly test: Test; readonly place: string }[];
}

/** Reads a configuration with the files that it names. Rejects with DATA_INVALID, with place and remedy, for what it cannot read as promptfoo does. */
export async function readConfiguration(path: string, text: string): Promise<Configuration> {
  const given = parseText(text, path);
  if (!isObject(given) || !("prompts" in given) || !("tests" in given))
    throw invalidCase(
      path,
      "the file has no `prompts` and `tests`",
      "Name a configuration of promptfoo, or write the cases as JSONL.",
    );
  if ("scenarios" in given)
    throw invalidCase(
      path,
      "`scenarios` cannot be read",
      "Write them as `tests`: `promptfoo eval` has the same cases.",
    );
  const { prompts, tests, defaultTest = {} } = given;
  const read = async (reference: string, place: string) => {
    const full = resolve(dirname(path), reference.replace(/^file:\/\//, ""));
    return { full, text: await readText(full, place) };
  };
  return {
    prompt: await promptOf(prompts, path, read),
    defaultTest: parseTest(
      typeof defaultTest === "string"
        ? parseText((await read(defaultTest, `${path}, defaultTest`)).text, defaultTest)
        : defaultTest,
      `${path}, defaultTest`,
    ),
    tests: await testsOf(tests, path, read),
  };
}

type Read = (reference: string, place: string) => Promise<{ readonly full: string; readonly text: string }>;

async function promptOf(prompts: unknown, path: string, read: Read): Promise<string> {
  const list = Array.isArray(prompts) ? prompts : [prompts];
  const [only] = list as unknown[];
  const text = isObject(only) ? (only["raw"] ?? only["id"]) : only;
  if (list.length !== 1 || typeof text !== "string")
    throw invalidCase(
      path,
      list.length > 1 ? `\`prompts\` has ${list.length} prompts, and a policy learns one` : "`prompts` has no text",
      "Leave the prompt that is to be learnt, as a text or file://NAME.txt.",
    );
  if (!text.startsWith("file://")) return text;
  const { full, text: content } = await read(text, `${path}, prompts`);
  if (![".txt", ".md", ".json"].includes(extname(full)) || /^---\s*$/m.test(content))
    throw invalidCase(
      full,
      "the prompt is no text, or several with --- between them",
      "Name one prompt in a .txt, .md or .json file.",
    );
  return content.trim();
}

async function testsOf(tests: unknown, path: string, read: Read): Promise<Configuration["tests"]> {
  const list: readonly unknown[] = Array.isArray(tests) ? tests : [tests];
  const parsed = await Promise.all(
    list.map(async (each, i) => {
      const place = `${path}, tests[${i}]`;
      if (typeof each !== "string") return [{ test: parseTest(each, place), place }];
      const { full, text } = await read(each, place);
      const rows: unknown =
        extname(full) === ".jsonl"
          ? text
              .split("\n")
              .filter(Boolean)
              .map((line) => parseText(line, full))
          : parseText(text, full);
      if (![".yaml", ".yml", ".json", ".jsonl"].includes(extname(full)) || !Array.isArray(rows))
        throw invalidCase(place, `${each} is no list of tests`, "Write the tests as YAML, JSON or JSONL.");
      return rows.map((row, j) => ({ test: parseTest(row, `${full}, [${j}]`), place: `${full}, [${j}]` }));
    }),
  );
  return parsed.flat();
}

function parseTest(given: unknown, place: string): Test {
  const parsed = parseBy(testSchema, given, place);
  const { options, assertScoringFunction } = parsed;
  const changing = isObject(options) ? CHANGING.find((key) => key in options) : undefined;
  const unread = assertScoringFunction === undefined ? changing && `options.${changing}` : "assertScoringFunction";
  if (unread !== undefined)
    throw invalidCase(place, `\`${unread}\` cannot be read`, "Write its effect into the prompt or the assertions.");
  const assert = parsed.assert.map((each, i) =>
    parseBy<Assertion>(
      isObject(each) && each["type"] === "assert-set" ? assertSet : leaf,
      each,
      `${place}, assert[${i}]`,
    ),
  );
  return { ...parsed, assert, threshold: parsed.threshold ?? undefined };
}

function parseBy<T>(schema: z.ZodType<T>, given: unknown, place: string): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidCase(
    place,
    `${issue?.path.join(".") || "it"}: ${issue?.message ?? "not of the form of promptfoo"}`,
    "Tests have vars, assert and threshold; assertions have type, value, threshold, weight and metric. Leave other keys out.",
  );
}

function parseText(text: string, place: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw invalidCase(place, `the file is neither YAML nor JSON: ${(error as Error).message.split("\n")[0]}`);
  }
}

async function readText(path: string, place: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw invalidCase(place, `${path} cannot be read: ${fileFault(error)}`, "Paths are relative to the configuration.");
  });
}
