import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { defineEnvironment } from "../src/index.ts";

const options = z.strictObject({ polite: z.boolean().default(false), when: z.date().optional() });

describe("the JSON Schema of options", () => {
  const environment = (schema: unknown, more: object = {}) =>
    defineEnvironment({
      id: "a@1",
      description: "",
      determinism: "full",
      options: schema as z.ZodType,
      create: () => ({}) as never,
      ...more,
    });
  const standard = { version: 1, vendor: "other", validate: (value: unknown) => ({ value }) };

  test("is derived from a zod schema: what may be given, not what was parsed", () => {
    expect(environment(options).optionsJsonSchema).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { polite: { default: false, type: "boolean" }, when: {} },
      additionalProperties: false,
    });
  });

  test("is derived from a schema of zod 4 without the interface", () => {
    const old = Object.create(options, {
      "~standard": { value: { ...options["~standard"], jsonSchema: undefined } },
    }) as object;
    expect(environment(old).optionsJsonSchema).toMatchObject({ properties: { polite: { type: "boolean" } } });
  });

  test("is asked of any schema with the interface, and absent for one without", () => {
    const input = ({ target }: { target: string }) => ({ title: target });
    expect(environment({ "~standard": { ...standard, jsonSchema: { input } } }).optionsJsonSchema).toEqual({
      title: "draft-2020-12",
    });
    expect(environment({ "~standard": standard }).optionsJsonSchema).toBeUndefined();
    expect(environment(undefined).optionsJsonSchema).toBeUndefined();
  });

  test("may be written by hand, which a schema that cannot be expressed needs", () => {
    const schema = {
      "~standard": {
        ...standard,
        jsonSchema: {
          input: () => {
            throw new Error("no form for a set");
          },
        },
      },
    };
    expect(() => environment(schema)).toThrow(
      expect.objectContaining({
        code: "PLUGIN_INVALID",
        message: "The options of environment a@1 have no JSON Schema: no form for a set",
      }),
    );
    expect(environment(schema, { optionsJsonSchema: { title: "mine" } }).optionsJsonSchema).toEqual({ title: "mine" });
  });
});
