import { describe, expect, test } from "@jest/globals";
import type { JsonObject, JsonValue } from "@mrlm/spec";
import { checkTable, parseBoth } from "./check-table.ts";
import { modelOf } from "./models.ts";

const tools = [
  {
    name: "f",
    description: "",
    parameters: {
      type: "object",
      properties: {
        text: { type: "string" },
        count: { type: "integer" },
        ratio: { type: "number" },
        flag: { type: "boolean" },
        list: { type: "array" },
        map: { type: "object" },
        maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
        either: { type: ["string", "null"] },
        any: {},
        choice: { enum: [1, 2] },
      },
    } as JsonObject,
  },
];
const wrap = (body: string): string => `<tool_call>\n<function=f>\n${body}</function>\n</tool_call>`;
const parameter = (key: string, value: string): string => `<parameter=${key}>\n${value}\n</parameter>\n`;

checkTable("qwen-coder", {
  tools,
  calls: [
    [wrap(""), ["f", {}]],
    [wrap(parameter("text", "a\n  b\n")), ["f", { text: "a\n  b\n" }]],
    [wrap(parameter("text", "</tool_cal <function= {}")), ["f", { text: "</tool_cal <function= {}" }]],
    [wrap(parameter("count", "3") + parameter("ratio", "-1.5")), ["f", { count: 3, ratio: -1.5 }]],
    ["<tool_call><function=g-1><parameter=a>1</parameter></function></tool_call>", ["g-1", { a: "1" }]],
    [`${wrap("")}\n${wrap("")}`, ["f", {}], ["f", {}]],
  ],
  malformed: [
    ["<tool_call>", 'The call has no end: "</tool_call>" is missing.'],
    ["<tool_call>\n<function=f>\n</function>", 'The call has no end: "</tool_call>" is missing.'],
    ["<tool_call>‸</tool_call>", 'Expected "<function=" at the start of the function, found "<".'],
    ["<tool_call>\n‸f\n</tool_call>", 'Expected "<function=" at the start of the function, found "f".'],
    [
      '<tool_call>\n‸{"name": "f", "arguments": {}}\n</tool_call>',
      'Expected "<function=" at the start of the function, found "{".',
    ],
    [
      "<tool_call>\n‸<function>f</function>\n</tool_call>",
      'Expected "<function=" at the start of the function, found "<".',
    ],
    [
      "<tool_call>\n‸<Function=f>\n</function>\n</tool_call>",
      'Expected "<function=" at the start of the function, found "<".',
    ],
    [
      "<tool_call>\n<function=f‸\n</function>\n</tool_call>",
      'Expected ">" after the name of the function, found "\\n".',
    ],
    ["<tool_call>\n<function=‸>\n</function>\n</tool_call>", "The name of the tool is empty."],
    ["<tool_call>\n<function=‸f g>\n</function>\n</tool_call>", 'The name "f g" of a tool has white space.'],
    ["<tool_call>\n<function=‸ f>\n</function>\n</tool_call>", 'The name " f" of a tool has white space.'],
    ["<tool_call>\n<function=f>\n‸</tool_call>", 'Expected "</function>" or "<parameter=", found "<".'],
    ["<tool_call>\n<function=f>\n‸a\n</function>\n</tool_call>", 'Expected "</function>" or "<parameter=", found "a".'],
    [
      '<tool_call>\n<function=f>\n‸{"a": 1}\n</function>\n</tool_call>',
      'Expected "</function>" or "<parameter=", found "{".',
    ],
    [
      "<tool_call>\n<function=f>\n‸<param=a>1</param>\n</function>\n</tool_call>",
      'Expected "</function>" or "<parameter=", found "<".',
    ],
    [
      "<tool_call>\n<function=f>\n‸<parameter>a</parameter>\n</function>\n</tool_call>",
      'Expected "</function>" or "<parameter=", found "<".',
    ],
    [
      "<tool_call>\n<function=f>\n‸</parameter>\n</function>\n</tool_call>",
      'Expected "</function>" or "<parameter=", found "<".',
    ],
    [
      "<tool_call>\n<function=f>\n‸<function=g>\n</function>\n</tool_call>",
      'Expected "</function>" or "<parameter=", found "<".',
    ],
    [
      "<tool_call>\n<function=f>\n‸<tool_call>\n</function>\n</tool_call>",
      'Expected "</function>" or "<parameter=", found "<".',
    ],
    [
      "<tool_call>\n‸<parameter=a>1</parameter>\n</tool_call>",
      'Expected "<function=" at the start of the function, found "<".',
    ],
    [
      "<tool_call>\n<function=f>\n</function>\n‸So\n</tool_call>",
      'Expected "</tool_call>" after the function, found "S".',
    ],
    [
      "<tool_call>\n<function=f>\n</function>\n‸</function>\n</tool_call>",
      'Expected "</tool_call>" after the function, found "<".',
    ],
    [
      "<tool_call>\n<function=f>\n</function>\n‸<function=g>\n</function>\n</tool_call>",
      'Expected "</tool_call>" after the function, found "<".',
    ],
    [wrap("<parameter=a‸\n1</parameter>\n"), 'Expected ">" after the name of the parameter, found "\\n".'],
    [wrap("<parameter=‸>1</parameter>\n"), "The name of the parameter is empty."],
    [wrap("<parameter=‸a b>1</parameter>\n"), 'The name "a b" of a parameter has white space.'],
    [wrap("<parameter=a>\n1\n‸"), 'The parameter "a" has no "</parameter>".'],
    [wrap(`<parameter=a>\n1\n‸${parameter("b", "2")}`), 'The parameter "a" has no "</parameter>".'],
    ["<tool_call><function=f><parameter=a>‸1</tool_call>", 'The parameter "a" has no "</parameter>".'],
    ["<tool_call><function=f><parameter=a>‸</tool_call>", 'The parameter "a" has no "</parameter>".'],
    [wrap("<parameter=a></parameter‸"), 'The parameter "a" has no "</parameter>".'],
    [wrap("<parameter=a>1</parameter>‸</parameter>"), 'Expected "</function>" or "<parameter=", found "<".'],
    [wrap(`${parameter("a", "1")}<parameter=‸a>\n2\n</parameter>\n`), 'The parameter "a" occurs twice.'],
    [wrap(`${parameter("a", "1")}‸, ${parameter("b", "1")}`), 'Expected "</function>" or "<parameter=", found ",".'],
    [wrap("<parameter=a>‸</function>"), 'The parameter "a" has no "</parameter>".'],
    ["‸<function=f>\n</function>", 'The call begins without "<tool_call>".'],
    ["‸<function=f>\n<parameter=a>\n1\n</parameter>\n</function>", 'The call begins without "<tool_call>".'],
    ["‸<function=f>", 'The call begins without "<tool_call>".'],
    [
      "<tool_call>\n<function=f>\n<parameter=text>‸\n<tool_call>\n</tool_call>",
      'The parameter "text" has no "</parameter>".',
    ],
    [wrap("‸<parameter a>1</parameter>\n"), 'Expected "</function>" or "<parameter=", found "<".'],
    ["<tool_call>\n<function=f/>‸</tool_call>", 'Expected "</function>" or "<parameter=", found "<".'],
    ["<tool_call>\n<function=f>\n‸</function\n</tool_call>", 'Expected "</function>" or "<parameter=", found "<".'],
  ],
});

/** Returns a schema with a condition. */
function branches(...parts: readonly [condition: JsonObject, then: JsonObject]): JsonObject {
  return Object.fromEntries(["if", "then"].map((key, i) => [key, parts[i] as JsonObject]));
}

describe("arguments of qwen-coder", () => {
  const model = modelOf("qwen-coder");
  const value = (key: string, text: string, known = tools): JsonValue | undefined => {
    const [part] = parseBoth(model, wrap(parameter(key, text)), { tools: known }).parts;
    return part?.type === "tool-call" ? part.arguments[key] : undefined;
  };

  test.each([
    ["text", "3", "3"],
    ["text", "null", "null"],
    ["count", "3", 3],
    ["count", "3.5", "3.5"],
    ["count", "x", "x"],
    ["ratio", "3", 3],
    ["ratio", "1e999", "1e999"],
    ["flag", "True", true],
    ["flag", "false", false],
    ["flag", "yes", "yes"],
    ["list", '[1, "a"]', [1, "a"]],
    ["list", "[1,", "[1,"],
    ["map", '{"a": {}}', { a: {} }],
    ["maybe", "None", null],
    ["maybe", "4", 4],
    ["either", "null", null],
    ["either", "3", "3"],
    ["either", '"a"', '"a"'],
    ["any", "3", "3"],
    ["choice", "2", 2],
    ["unknown", "3", "3"],
    ["constructor", "3", "3"],
    ["toString", "null", "null"],
    ["__proto__", "3", "3"],
  ])("%s of %j is %j by the schema", (key, text, expected) => {
    expect(value(key, text)).toEqual(expected);
  });

  const D11 = {
    properties: {
      model: { $ref: "#/$defs/Point" },
      optional: { anyOf: [{ $ref: "#/$defs/Point" }, { type: "null" }], default: null },
      described: { allOf: [{ $ref: "#/$defs/Point" }], description: "d" },
      mode: { $ref: "#/$defs/Mode" },
      tree: { $ref: "#/$defs/Tree" },
      endless: { $ref: "#/$defs/Endless" },
      missing: { $ref: "#/$defs/Missing" },
      remote: { $ref: "https://example.com/schema.json" },
      union: { anyOf: [{ type: "string" }, { type: "object" }] },
      narrow: { type: ["string", "integer"], anyOf: [{ type: "integer" }] },
      whole: { allOf: [{ type: "number" }, { type: "integer" }] },
      nullable: { type: "integer", nullable: true },
      branch: {},
    },
    allOf: [branches({ properties: { mode: { const: 1 } } }, { properties: { branch: { type: "array" } } })],
    additionalProperties: { type: "boolean" },
    $defs: {
      Point: { type: "object", properties: { x: { type: "integer" } } },
      Mode: { enum: [1, 2] },
      Tree: { anyOf: [{ type: "array", items: { $ref: "#/$defs/Tree" } }, { type: "integer" }] },
      Endless: { anyOf: [{ $ref: "#/$defs/Endless" }, { type: "integer" }] },
    },
  } as JsonObject;

  test.each([
    ["model", '{"x": 1}', { x: 1 }],
    ["optional", '{"x": 1}', { x: 1 }],
    ["optional", "null", null],
    ["described", '{"x": 1}', { x: 1 }],
    ["mode", "2", 2],
    ["tree", "[1, [2]]", [1, [2]]],
    ["endless", "1", 1],
    ["missing", "1", "1"],
    ["remote", "1", "1"],
    ["union", '"a"', '"a"'],
    ["union", "{}", {}],
    ["narrow", "1", 1],
    ["narrow", "a", "a"],
    ["whole", "1", 1],
    ["whole", "1.5", "1.5"],
    ["nullable", "None", null],
    ["branch", "[1]", [1]],
    ["other", "true", true],
    ["__proto__", "1", "1"],
  ])("D11: %s of %j is %j by references and combinations", (key, text, expected) => {
    expect(value(key, text, [{ name: "f", description: "", parameters: D11 }])).toEqual(expected);
  });

  test("D11: a chain of 100,000 references and one million ways through a schema end", () => {
    const chain = Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]));
    const ways = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [
        `w${i}`,
        i === 19 ? { type: "integer" } : { allOf: [{ $ref: `#/$defs/w${i + 1}` }, { $ref: `#/$defs/w${i + 1}` }] },
      ]),
    );
    const parameters = {
      properties: { chain: { $ref: "#/$defs/d0" }, ways: { $ref: "#/$defs/w0" } },
      $defs: { ...chain, ...ways },
    };
    const known = [{ name: "f", description: "", parameters: parameters as unknown as JsonObject }];
    expect(value("chain", "1", known)).toBe("1");
    expect(value("ways", "1", known)).toBe(1);
  });

  test.each(["a\r", "\r", "\r\n", "\n", "", " a ", "\ra"])("D11: the text %j keeps its line breaks", (text) => {
    expect(value("text", text)).toBe(text);
  });

  test("D11: line breaks of Windows around a value are no part of it", () => {
    const [part] = parseBoth(model, wrap("<parameter=count>\r\n3\r\n</parameter>\n"), { tools }).parts;
    expect(part).toMatchObject({ arguments: { count: 3 } });
    const [text] = parseBoth(model, wrap("<parameter=text>\r\n3\r\n</parameter>\n"), { tools }).parts;
    expect(text).toMatchObject({ arguments: { text: "3" } });
  });

  test("are text without a schema", () => {
    expect(value("count", "3", [])).toBe("3");
  });
});
