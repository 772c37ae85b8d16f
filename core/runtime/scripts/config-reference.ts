import { z } from "zod";
import { fileSchema, LEGACY_KEYS } from "../src/config/legacy/legacy-schema.ts";

/** Part of JSON Schema that the schema of the configuration uses. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  readonly $ref?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

const INTRODUCTION = `# Configuration

What \`mrlm train --config FILE\` reads. Keys are snake_case. An unknown key is an error that names the key, its line and column and the nearest known
one; so is a value of the wrong kind. Relative paths are relative to the file, \`output\` to the working directory,
and files that options of environments name, at a server that runs already (\`server.address\`), to its \`--data-root\`. The resolved configuration,
every default filled in, is written into the run directory as \`config.yaml\` and loads again as itself.
\`--set stages.1.learning_rate=1e-4\` on the command line sets a key over the file's, as if it stood in it.

Editors complete and check the file with [config.schema.json](config.schema.json):
\`# yaml-language-server: $schema=https://.../docs/reference/config.schema.json\` as its first line.

\`\`\`yaml
name: ordering
seed: 0
model:
  random:
    config: { model_type: qwen2, hidden_size: 128, num_hidden_layers: 4, num_attention_heads: 4, intermediate_size: 512 }
    tokenizer: characters
environments:
  - id: math
    options: { families: [ordering], style: terse }
sampling: { temperature: 1, max_tokens: 16 }
stages:
  - { algorithm: sft, steps: 75, batch_size: 128, learning_rate: 1.0e-3 }
  - { algorithm: grpo, steps: 100, prompts_per_step: 32, group_size: 8, learning_rate: 1.0e-4 }
eval: { tasks: 256 }
\`\`\`

A stage's own options are those of its algorithm, written beside \`algorithm\`; an environment's are those of the environment. Both are
judged by the plugin's own schema: see the README of each.
`;

const LEGACY_INTRODUCTION = `## The legacy form

YAML of the system that this one replaces loads unchanged. \`training\` and the section of its algorithm are one stage, \`eval_envs\`
are the environments, and the keys below replace those of the current form. Keys without effect are accepted, and reported when the
configuration is loaded. So are options of an algorithm or an environment that the installed plugin does not have.
`;

/** Returns the JSON Schema of the configuration, for editors. */
export function configJsonSchema(): Schema {
  return z.toJSONSchema(fileSchema, { io: "input", unrepresentable: "any" }) as Schema;
}

/** docs/reference/config.md. */
export function configReference(): string {
  const { properties = {}, required = [] } = configJsonSchema();
  const legacyTop = legacyKeysOf();
  const current = Object.keys(properties).filter((key) => !legacyTop.includes(key));
  const scalars = current.filter((key) => objectOf(properties[key] as Schema) === undefined);
  const sections = current.filter((key) => !scalars.includes(key));
  const isLegacyIn = (key: string) => (name: string) => legacyKeysOf(key).includes(name.split(/[.[]/)[0] as string);
  return [
    INTRODUCTION,
    "## Top level\n",
    table(current.map((key) => ({ key, schema: properties[key] as Schema, isRequired: required.includes(key) }))),
    ...sections.map((key) => section(key, properties[key] as Schema, (name) => !isLegacyIn(key)(name))),
    LEGACY_INTRODUCTION,
    table(legacyTop.map((key) => ({ key, schema: properties[key] as Schema, isRequired: false }))),
    ...legacyTop.flatMap((key) =>
      objectOf(properties[key] as Schema) === undefined ? [] : [section(key, properties[key] as Schema, () => true)],
    ),
    ...sections
      .filter((key) => legacyKeysOf(key).length > 0)
      .map((key) => section(key, properties[key] as Schema, isLegacyIn(key), `${key}, legacy keys`)),
  ].join("\n");
}

/** Returns the legacy keys of a section, or of the top level. */
function legacyKeysOf(section?: string): readonly string[] {
  return LEGACY_KEYS.find((each) => each.section[0] === section)?.keys ?? [];
}

function section(key: string, schema: Schema, isShown: (name: string) => boolean, title = key): string {
  const rows = rowsOf(schema, "").filter(({ key: name }) => isShown(name));
  return `### ${title}\n\n${table(rows)}`;
}

interface Row {
  readonly key: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

function rowsOf(schema: Schema, prefix: string): Row[] {
  const object = objectOf(schema);
  return Object.entries(object?.properties ?? {}).flatMap(([name, member]) => {
    const key = `${prefix}${name}`;
    const isList = member.type === "array";
    const named = member.additionalProperties;
    return [
      { key, schema: member, isRequired: object?.required?.includes(name) ?? false },
      ...rowsOf(member, `${key}${isList ? "[]" : ""}.`),
      ...(typeof named === "object" ? rowsOf(named, `${key}.*.`) : []),
    ];
  });
}

/** Returns the object with keys that a schema is, lists, or may be. */
function objectOf(schema: Schema): Schema | undefined {
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return objectOf(schema.items);
  return schema.anyOf?.map(objectOf).find((found) => found !== undefined);
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ key, schema, isRequired }) =>
      `| \`${key}\` | ${kindOf(schema)} | ${defaultOf(schema)} | ${isRequired ? "**required**. " : ""}${(schema.description ?? "").replaceAll("|", "\\|")} |`,
  );
  return ["| key | value | default | |", "| --- | --- | --- | --- |", ...lines, ""].join("\n");
}

/** Returns a default that is not empty. */
function defaultOf({ default: value }: Schema): string {
  const isEmpty = value === undefined || (typeof value === "object" && Object.keys(value as object).length === 0);
  return isEmpty ? "" : `\`${String(value)}\``;
}

function kindOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.anyOf !== undefined) {
    const kinds = [...new Set(schema.anyOf.filter(({ type }) => type !== "null").map(kindOf))];
    return kinds.length > 4 ? "any" : kinds.join(" or ");
  }
  if (schema.type === "array") return `list of ${schema.items === undefined ? "anything" : kindOf(schema.items)}`;
  if (schema.type === "integer" || schema.type === "number")
    return `${schema.type === "integer" ? "whole number" : "number"}${rangeOf(schema)}`;
  const names: Readonly<Record<string, string>> = { string: "text", boolean: "true or false", object: "object" };
  return names[schema.type ?? ""] ?? "any";
}

function rangeOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string {
  const parts = [
    ...(exclusiveMinimum !== undefined
      ? [`above ${exclusiveMinimum}`]
      : minimum !== undefined && Math.abs(minimum) < 2 ** 53 - 1
        ? [`at least ${minimum}`]
        : []),
    ...(exclusiveMaximum !== undefined
      ? [`below ${exclusiveMaximum}`]
      : maximum !== undefined && maximum < 2 ** 53 - 1
        ? [`at most ${maximum}`]
        : []),
  ];
  return parts.length > 0 ? `, ${parts.join(", ")}` : "";
}
