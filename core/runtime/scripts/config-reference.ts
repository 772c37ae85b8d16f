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

What \`mrlm train --config FILE\` reads. An unknown key, or a value of the wrong kind, is an error with the key, its line and column and the nearest known
one. Relative paths are relative to the file, \`output\` to the working directory,
and files that options of environments name, at a server that runs already (\`server.address\`), to its \`--data-root\`. The resolved configuration
is \`config.yaml\` of the run directory. \`--set stages.1.learning_rate=1e-4\` on the command line sets a key over the file's.

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

Options of a stage are those of its algorithm, beside \`algorithm\`; see the README of each algorithm and environment.
`;

const LEGACY = `## The legacy form

YAML of the system that this one replaces loads unchanged ([its words](../start/migrating.md#mrlm)). \`training\` and the section of its algorithm are one stage, \`eval_envs\`
the environments. Keys without effect, and options that the installed plugin does not have, are accepted and reported when the configuration is loaded.
[config.schema.json](config.schema.json) describes each key.
`;

/** Returns the JSON Schema of the configuration, for editors. */
export function configJsonSchema(): Schema {
  return z.toJSONSchema(fileSchema, { io: "input", unrepresentable: "any" }) as Schema;
}

/** docs/reference/config.md. */
export function configReference(): string {
  const { properties = {}, required = [] } = configJsonSchema();
  const legacyTop = legacyKeysOf();
  const places = placesOf(properties);
  const current = Object.keys(properties).filter((key) => !legacyTop.includes(key));
  const scalars = current.filter((key) => objectOf(properties[key] as Schema) === undefined);
  const sections = current.filter((key) => !scalars.includes(key));
  const isLegacyIn = (key: string) => (name: string) => legacyKeysOf(key).includes(name.split(/[.[]/)[0] as string);
  return [
    INTRODUCTION,
    "## Top level\n",
    list(current.map((key) => ({ key, schema: properties[key] as Schema, isRequired: required.includes(key) }))),
    ...sections.map((key) => section(key, places, properties[key] as Schema, (name) => !isLegacyIn(key)(name))),
    LEGACY,
  ].join("\n");
}

/** Returns the legacy keys of a section, or of the top level. */
function legacyKeysOf(section?: string): readonly string[] {
  return LEGACY_KEYS.find((each) => each.section[0] === section)?.keys ?? [];
}

function section(key: string, places: Places, schema: Schema, isShown: (name: string) => boolean): string {
  const rows = rowsOf(schema, "", key, places).filter(({ key: name }) => isShown(name));
  return `### ${key}\n\n${list(rows)}`;
}

interface Row {
  readonly key: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** Place that has the keys of this one, if they stand elsewhere. */
  readonly keysOf?: string;
}

/** By the keys of an object that has several places: the shortest of these, which alone shows them. */
type Places = ReadonlyMap<string, string>;

function placesOf(properties: Readonly<Record<string, Schema>>): Places {
  const places = new Map<string, string>();
  const visit = (schema: Schema | undefined, place: string): void => {
    if (schema?.properties === undefined) return;
    const keys = JSON.stringify(schema.properties);
    const known = places.get(keys);
    if (known === undefined || depthOf(place) < depthOf(known)) places.set(keys, place);
    for (const [name, member] of Object.entries(schema.properties)) visitMember(member, `${place}.${name}`);
  };
  const visitMember = (member: Schema, place: string): void => {
    visit(objectOf(member), member.type === "array" ? `${place}[]` : place);
    if (typeof member.additionalProperties === "object") visit(objectOf(member.additionalProperties), `${place}.*`);
  };
  for (const [name, member] of Object.entries(properties)) visit(objectOf(member), name);
  return places;
}

const depthOf = (place: string): number => place.split(".").length;

function rowsOf(schema: Schema, prefix: string, place: string, places: Places): Row[] {
  const object = objectOf(schema);
  return Object.entries(object?.properties ?? {}).flatMap(([name, member]) => {
    const key = `${prefix}${name}`;
    const isRequired = object?.required?.includes(name) ?? false;
    const named = member.additionalProperties;
    const nested = [
      { schema: member, path: member.type === "array" ? `${name}[]` : name },
      ...(typeof named === "object" ? [{ schema: named, path: `${name}.*` }] : []),
    ];
    const known = nested.flatMap(({ schema: each, path }) => {
      const keys = objectOf(each)?.properties;
      const at = keys === undefined ? undefined : places.get(JSON.stringify(keys));
      return at === undefined || at === `${place}.${path}` ? [] : [at];
    });
    if (known.length > 0) return [{ key, schema: member, isRequired, keysOf: known[0] as string }];
    return [
      { key, schema: member, isRequired },
      ...nested.flatMap(({ schema: each, path }) => rowsOf(each, `${prefix}${path}.`, `${place}.${path}`, places)),
    ];
  });
}

/** Returns the object with keys that a schema is, lists, or may be. */
function objectOf(schema: Schema): Schema | undefined {
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return objectOf(schema.items);
  return schema.anyOf?.map(objectOf).find((found) => found !== undefined);
}

function list(rows: readonly Row[]): string {
  const lines = rows.map(({ key, schema, isRequired, keysOf }) => {
    const description = schema.description ?? "";
    const keys = keysOf === undefined ? "" : `${description === "" ? "" : ". "}Keys of \`${keysOf}\``;
    const meaning = description + keys === "" ? "" : `: ${description}${keys}`;
    const kinds = [kindOf(schema), ...(isRequired ? ["**required**"] : []), ...defaultOf(schema)].filter(
      (kind) => kind !== "object",
    );
    return wrapped(`- \`${key}\`${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}${meaning}`);
  });
  return [...lines, ""].join("\n");
}

/** Returns a default that is not empty. */
function defaultOf({ default: value }: Schema): string[] {
  const isEmpty = value === undefined || (typeof value === "object" && Object.keys(value as object).length === 0);
  return isEmpty ? [] : [`default \`${String(value)}\``];
}

const wrapped = (line: string): string => line.replaceAll(/(.{150,200}) (?=.{40})/g, "$1\n  ");

function kindOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.anyOf !== undefined) {
    const kinds = [...new Set(schema.anyOf.filter(({ type }) => type !== "null").map(kindOf))];
    return kinds.length > 4 ? "any" : kinds.join(" or ");
  }
  if (schema.type === "array") return `list of ${schema.items === undefined ? "anything" : kindOf(schema.items)}`;
  if (schema.type === "integer" || schema.type === "number")
    return `${schema.type === "integer" ? "integer" : "number"}${rangeOf(schema)}`;
  const names: Readonly<Record<string, string>> = { string: "text", boolean: "boolean", object: "object" };
  return names[schema.type ?? ""] ?? "any";
}

function rangeOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string {
  const isLimited = (limit: number | undefined): boolean => limit !== undefined && Math.abs(limit) < 2 ** 53 - 1;
  const low = isLimited(minimum) ? `≥ ${minimum}` : exclusiveMinimum === undefined ? "" : `> ${exclusiveMinimum}`;
  const high = isLimited(maximum) ? `≤ ${maximum}` : exclusiveMaximum === undefined ? "" : `< ${exclusiveMaximum}`;
  return [low, high]
    .filter((part) => part !== "")
    .map((part) => ` ${part}`)
    .join(",");
}
