import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parseConfig } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { parseAllDocuments, stringify } from "yaml";
import { type CodeBlock, ROOT } from "./blocks.ts";
import { optionFaults } from "./options.ts";

const schema = JSON.parse(readFileSync(join(ROOT, "docs/reference/config.schema.json"), "utf8")) as {
  properties: Record<string, object>;
  $defs?: object;
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });

/** Returns what is wrong with a YAML block: its syntax, and each key that a configuration does not have or whose value has another form. */
export function yamlFaults({ code }: CodeBlock): string[] {
  return parseAllDocuments(code).flatMap((document) => {
    if (document.errors.length > 0) return document.errors.map(({ message }) => message.split("\n")[0] ?? "");
    const value = document.toJS() as unknown;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return ["it is no part of a configuration"];
    return Object.entries(value).flatMap(([key, part]) => keyFaults(key, part));
  });
}

function keyFaults(key: string, value: unknown): string[] {
  const own = schema.properties[key];
  if (own === undefined) return [`a configuration has no key "${key}"`];
  const validate = ajv.compile({ ...own, ...(schema.$defs !== undefined && { $defs: schema.$defs }) });
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${key}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** Keys without which there is no configuration. */
const REQUIRED = { environments: [{ id: "math" }], stages: [{ algorithm: "sft", steps: 1 }] };
/** Those of a file with `models`, which `mrlm eval` measures. */
const MEASURED = { environments: [{ id: "math" }] };

/** Returns why the parser refuses the keys of a YAML block, which stand beside those that every configuration needs. */
export function parserFaults({ code }: CodeBlock): string[] {
  return parseAllDocuments(code).flatMap((document) => {
    const value = document.toJS() as Partial<Record<string, object>>;
    const isWhole = ["path", "random", "hub", "gguf"].some((key) => key in (value["model"] ?? {}));
    const isMeasured = "models" in value;
    const model =
      "policies" in value || isMeasured
        ? {}
        : { model: isWhole ? value["model"] : { path: "my-model", ...value["model"] } };
    try {
      parseConfig(stringify({ ...(isMeasured ? MEASURED : REQUIRED), ...value, ...model }), { path: "page.yaml" });
      return [];
    } catch (error) {
      if (!MrlmError.isInstance(error)) throw error;
      // The page states no other keys, and is not at fault for what they lack.
      const keys = Object.keys(value);
      const own = new RegExp(`^page\\.yaml:\\d+:\\d+: (?:${keys.join("|")})\\b`);
      return error.message.split("\n").filter((line) => own.test(line));
    }
  });
}

/** Keys that options in TypeScript have too. */
const AMBIGUOUS = new Set(["plugins", "policies"]);

/** Returns true for a map or list of a configuration, with values for all of its keys. */
export function isConfiguration({ code }: CodeBlock): boolean {
  const [document] = parseAllDocuments(code);
  const [[key, value] = ["", null]] = Object.entries((document?.toJS() ?? {}) as object);
  if (schema.properties[key] === undefined || AMBIGUOUS.has(key) || document?.errors.length !== 0) return false;
  return Array.isArray(value) || !Object.values(value as object).includes(null);
}

const NOT_OPTIONS = new Set(["algorithm", "curriculum", "name", "policies", "reference_model", "until"]);

/** Returns what is wrong with the options of the built-in algorithms and environments of a YAML block. */
export async function yamlOptionFaults({ code }: CodeBlock): Promise<string[]> {
  const values = parseAllDocuments(code).map((document) => document.toJS() as Partial<Record<string, unknown>> | null);
  const faults = values.flatMap((value) => [
    ...objectsOf(value?.["stages"]).flatMap((stage) =>
      typeof stage["algorithm"] === "string"
        ? [
            optionFaults(
              stage["algorithm"],
              Object.fromEntries(Object.entries(stage).filter(([key]) => !NOT_OPTIONS.has(key))),
            ),
          ]
        : [],
    ),
    ...objectsOf(value?.["environments"]).flatMap(({ id, options = {} }) =>
      typeof id === "string" ? [optionFaults(id, options as object)] : [],
    ),
  ]);
  return (await Promise.all(faults)).flat();
}

function objectsOf(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === "object" && each !== null) : [];
}
