import { canonicalJson } from "@mrlm/runtime";
import { type EnvironmentDefinition, isObject, type JsonObject, type JsonValue } from "@mrlm/spec";
import { compileSchema, OPTIONS } from "../check/compile-schema.ts";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { startingOptions } from "../contract/starting-options.ts";

/** Name that no option has. */
const UNKNOWN = "no-such-option";

/** Checks of options: the schema and its JSON Schema agree, defaults work, unknown keys are rejected. */
export const optionChecks: readonly EnvironmentCheck[] = [
  {
    code: "OPTION_UNKNOWN_ACCEPTED",
    name: "an unknown option is refused",
    run: async ({ definition }) => {
      if (definition.options === undefined) return;
      const base = (await startingOptions(definition)) ?? {};
      if ((await parse(definition, { ...base, [UNKNOWN]: 1 })).accepted)
        throw new Defect("OPTION_UNKNOWN_ACCEPTED", `The options accept "${UNKNOWN}: 1".`, { about: "options" });
    },
  },
  {
    code: "OPTION_DEFAULT_INVALID",
    name: "the defaults that the schema states are those of an omitted option",
    run: async ({ definition }) => {
      const base = (await startingOptions(definition)) ?? {};
      const omitted = await parse(definition, base);
      if (!omitted.accepted) return [];
      const defects: Defect[] = [];
      for (const [name, { default: value }] of propertiesOf(definition)) {
        if (value === undefined || Object.hasOwn(base, name)) continue;
        const given = await parse(definition, { ...base, [name]: value });
        const shown = JSON.stringify(value);
        if (!given.accepted)
          defects.push(
            new Defect("OPTION_DEFAULT_INVALID", `Option ${name} refuses its default ${shown}.`, { about: name }),
          );
        else if (given.text !== omitted.text)
          defects.push(
            new Defect(
              "OPTION_DEFAULT_INVALID",
              `Option ${name} has the default ${shown} in its JSON Schema, and another one if it is omitted.`,
              { about: name },
            ),
          );
      }
      return defects;
    },
  },
  {
    code: "OPTIONS_DISAGREE",
    name: "the schema of the options and its JSON Schema accept the same",
    run: async ({ definition }) => {
      const { optionsJsonSchema: jsonSchema } = definition;
      if (jsonSchema === undefined || definition.options === undefined) return [];
      const validate = compileSchema(jsonSchema, OPTIONS);
      const base = (await startingOptions(definition)) ?? {};
      const defects: Defect[] = [];
      for (const [name, property] of propertiesOf(definition)) {
        for (const value of variantsOf(property)) {
          const options = { ...base, [name]: value };
          const [own, json] = [await parse(definition, options), validate(options)];
          // A rule that no JSON Schema can state refuses more.
          if (own.accepted === json || (json && own.isRule)) continue;
          const [accepts, refuses] = own.accepted ? ["options", "optionsJsonSchema"] : ["optionsJsonSchema", "options"];
          const shown = JSON.stringify(options).slice(0, 200);
          defects.push(
            new Defect("OPTIONS_DISAGREE", `\`${accepts}\` accepts ${shown}, and \`${refuses}\` refuses it.`, {
              about: name,
            }),
          );
          break;
        }
      }
      return defects;
    },
  },
];

/** Options as the schema parsed them. */
interface Parsed {
  readonly accepted: boolean;
  readonly text: string;
  /** Whether it was refused by a rule in code alone, not by the form of a value. */
  readonly isRule: boolean;
}

async function parse({ options: schema }: EnvironmentDefinition, options: JsonObject): Promise<Parsed> {
  const result = await schema?.["~standard"].validate(options);
  if (result === undefined || result.issues === undefined)
    return { accepted: true, text: canonicalJson((result?.value ?? {}) as JsonValue), isRule: false };
  // In the terms of zod, and of valibot.
  const isRule = result.issues.every((issue) => {
    const { code, type } = issue as { readonly code?: unknown; readonly type?: unknown };
    return code === "custom" || type === "check";
  });
  return { accepted: false, text: "", isRule };
}

/** Returns the properties of the JSON Schema of the options. */
function propertiesOf({ optionsJsonSchema }: EnvironmentDefinition): [string, JsonObject][] {
  return Object.entries((optionsJsonSchema?.["properties"] ?? {}) as Readonly<Record<string, JsonObject>>);
}

/** Values of every JSON type, for options that should refuse some of them. */
const ANY: readonly JsonValue[] = [null, true, -1, 0, 1, 0.5, 1e9, "", "no-such-value", [], ["no-such-value"], {}];

/** Returns values around the limits that a JSON Schema states: some that it accepts, and some that it refuses. */
function variantsOf(schema: JsonObject): JsonValue[] {
  const values = [...ANY, ...listed(schema["enum"]), ...listed(schema["examples"])];
  for (const key of ["default", "const"]) if (schema[key] !== undefined) values.push(schema[key]);
  for (const key of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) {
    const limit = schema[key];
    if (typeof limit === "number" && Math.abs(limit) < 1e12) values.push(limit - 1, limit, limit + 1);
  }
  for (const key of ["minLength", "maxLength"]) {
    const length = schema[key];
    if (typeof length === "number" && length < 1_000) values.push("a".repeat(length), "a".repeat(length + 1));
  }
  for (const key of ["anyOf", "oneOf"])
    for (const part of listed(schema[key])) if (isObject(part)) values.push(...variantsOf(part));
  if (isObject(schema["items"])) for (const item of variantsOf(schema["items"]).slice(0, 20)) values.push([item]);
  const properties = schema["properties"];
  if (isObject(properties))
    for (const [name, part] of Object.entries(properties))
      if (isObject(part)) for (const value of variantsOf(part)) values.push({ [name]: value });
  return unique(values);
}

function listed(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function unique(values: readonly JsonValue[]): JsonValue[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
