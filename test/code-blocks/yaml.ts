import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parseAllDocuments } from "yaml";
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

const NOT_OPTIONS = new Set(["algorithm", "name", "policies", "reference_model", "until"]);

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
