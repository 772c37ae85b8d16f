import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeJson, encodeJson } from "../src/json.ts";
import { json } from "./contract/any-groups.ts";

test("JSON keeps bytes, -0, numbers that are not finite, and members whose names look like a tag", () => {
  const values = [
    -0,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    Uint8Array.of(0, 255),
    { $bytes: "AA==" },
    { $object: { $number: "1" } },
  ];
  for (const value of [...values, values, { a: values, $b: values }])
    expect(decodeJson(encodeJson(value))).toStrictEqual(value);
  fc.assert(fc.property(json.value, (value) => expect(decodeJson(encodeJson(value))).toStrictEqual(value)));
});
