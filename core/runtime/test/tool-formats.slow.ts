import { expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { characterTokenizerFiles, chatRenderer, TOOL_FORMAT_NAMES } from "@mrlm/kit/renderer";
import type { JsonObject, JsonValue, Part } from "@mrlm/spec";
import fc from "fast-check";
import { argumentFaults } from "../src/host/tool-call-limits.ts";

/** Renders content alone, so that calls are written by the formats themselves. */
const TEMPLATE =
  "{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

/** Value with a schema that accepts it. `definitions` are those that the schema refers to. */
interface Typed {
  readonly schema: JsonObject;
  readonly value: JsonValue;
  readonly definitions: JsonObject;
}

const plain: fc.Arbitrary<Typed> = fc
  .oneof(
    // Text that begins with a letter of no literal is no value of another type.
    fc.string({ unit: fc.constantFrom(..."ab \"'\\{}[]:,=\n\r0"), maxLength: 8 }).map((rest) => ["string", `s${rest}`]),
    fc.integer().map((value) => ["integer", value]),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ["number", value + 0]),
    fc.boolean().map((value) => ["boolean", value]),
    fc.constant(["null", null]),
    fc
      .array(fc.oneof(fc.integer(), fc.constantFrom("a", "]", null)), { maxLength: 3 })
      .map((value) => ["array", value]),
    fc
      .dictionary(fc.constantFrom("x", "y"), fc.integer(), { maxKeys: 2, noNullPrototype: true })
      .map((value) => ["object", value]),
  )
  .chain(([type, value]) =>
    fc
      .constantFrom<JsonObject>({ type }, { type: [type] }, { const: value }, { enum: [value] })
      .map((schema) => ({ schema, value, definitions: {} }) as Typed),
  );

const OTHERS: readonly JsonObject[] = [{ type: "null" }, { type: "integer" }, { type: "object" }, { enum: ["t", [0]] }];

/** Returns a schema with a condition. */
function branches(...parts: readonly [condition: JsonObject, then: JsonObject, otherwise: JsonObject]): JsonObject {
  return Object.fromEntries(["if", "then", "else"].map((key, i) => [key, parts[i] as JsonObject]));
}

/** Makes the names of definitions unique. */
let definitionCount = 0;

/** Schemas that accept the same value, behind references and combinations. */
function wrapped(inner: fc.Arbitrary<Typed>): fc.Arbitrary<Typed> {
  return fc.tuple(inner, fc.constantFrom(...OTHERS)).chain(([typed, other]) => {
    const { schema, value, definitions } = typed;
    const number = definitionCount++;
    const name = `D/${number}~é`;
    const pointer = `#/$defs/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const referred = (added: JsonObject, reference = pointer): Typed => ({
      schema: { $ref: reference, ...added },
      value,
      definitions: { ...definitions, [name]: schema },
    });
    const made = fc.constantFrom<Typed>(
      referred({}),
      referred({ description: "d" }, encodeURI(pointer)),
      referred({}, `id${number}`),
      { ...typed, schema: { allOf: [schema, {}], default: null } },
      { ...typed, schema: { allOf: [{ type: ["string", "number", "boolean", "null", "array", "object"] }, schema] } },
      { ...typed, schema: { anyOf: [other, schema] } },
      { ...typed, schema: { oneOf: [schema, false, { allOf: [schema, { not: schema }] }] } },
      { ...typed, schema: branches({}, schema, other) },
      { ...typed, schema: branches({ not: {} }, other, schema) },
      // A definition that refers to itself.
      {
        schema: { $ref: pointer },
        value,
        definitions: {
          ...definitions,
          [name]: { anyOf: [schema, { type: "object", required: ["n"], properties: { n: { $ref: pointer } } }] },
        },
      },
    );
    return made.map((one) =>
      one.schema["$ref"] === `id${number}`
        ? { ...one, definitions: { ...definitions, [name]: { $id: `id${number}`, allOf: [schema] } } }
        : one,
    );
  });
}

const typed = fc.oneof(plain, wrapped(plain), wrapped(wrapped(plain)), wrapped(wrapped(wrapped(plain))));

/** Schemas of arguments, and arguments that they accept. */
const given = fc
  .tuple(fc.uniqueArray(typed, { maxLength: 4, selector: ({ schema }) => JSON.stringify(schema) }), fc.nat({ max: 7 }))
  .map(([members, form]) => {
    const named = members.map((member, i) => [`v${i}`, member] as const);
    const properties = Object.fromEntries(named.map(([key, { schema }]) => [key, schema]));
    const $defs = Object.assign({}, ...named.map(([, { definitions }]) => definitions)) as JsonObject;
    const object: JsonObject = { type: "object", properties };
    const forms: readonly JsonObject[] = [
      { ...object, $defs },
      { ...object, $defs },
      { $ref: "#/$defs/Arguments", $defs: { ...$defs, Arguments: object } },
      { type: "object", allOf: [object], $defs },
      { anyOf: [{ type: "object", properties: { w: {} }, required: ["w"] }, object], $defs },
      { type: "object", ...branches({ required: ["w"] }, { properties: { w: {} } }, object), $defs },
      {
        type: "object",
        patternProperties: Object.fromEntries(named.map(([key, { schema }]) => [`^${key}$`, schema])),
        $defs,
      },
      named.length === 1
        ? { type: "object", additionalProperties: named[0]?.[1].schema as JsonObject, $defs }
        : { type: "object", dependentSchemas: Object.fromEntries(named.map(([key]) => [key, object])), $defs },
    ];
    return {
      tool: {
        name: "f",
        description: "",
        parameters: { $schema: "https://json-schema.org/draft/2020-12/schema", ...forms[form] },
      },
      arguments: Object.fromEntries(named.map(([key, { value }]) => [key, value])),
    };
  });

const tokenizerFiles = {
  ...characterTokenizerFiles({
    alphabet: `${Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("")}\n\r\t｜▁`,
  }),
  "chat_template.jinja": new TextEncoder().encode(TEMPLATE),
};
const renderers = TOOL_FORMAT_NAMES.map((toolFormat) => chatRenderer({ tokenizerFiles, eosTokenIds: [], toolFormat }));
const ask = textMessage("user", "a");

test("D11: calls of every format are read back with the same arguments under any schema, which the validator accepts", () => {
  fc.assert(
    fc.property(given, ({ tool, arguments: written }) => {
      expect(argumentFaults(tool, written, silentLogger)).toBeUndefined();
      const call: Part = { type: "tool-call", id: "aB3dE5f7G", name: "f", arguments: written };
      for (const renderer of renderers) {
        const [sequence] = renderer.supervise([ask, { role: "assistant", parts: [call] }]);
        const sampled = sequence?.tokens.filter((_, i) => sequence.mask[i] === 1) as Int32Array;
        const read = renderer.parse(sampled, { tools: [tool] }).parts;
        expect([renderer.toolFormat, read]).toMatchObject([renderer.toolFormat, [{ name: "f", arguments: written }]]);
        const [{ arguments: again }] = read as unknown as [{ arguments: JsonObject }];
        expect(argumentFaults(tool, again, silentLogger)).toBeUndefined();
      }
    }),
    { numRuns: 60 },
  );
});
