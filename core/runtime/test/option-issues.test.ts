import { describe, expect, test } from "@jest/globals";
import { familyMixture, removedKeys } from "@mrlm/kit/options";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { z } from "zod";
import { describeIssues, namedOption, validateOptions } from "../src/plugins/standard-options.ts";

const schema = z.strictObject({
  families: familyMixture(["ordering", "arithmetic"]).optional(),
  rate: z.number().positive().optional(),
  name: z.string(),
  rewards: z.strictObject({ format: z.number() }).optional(),
});
const described = async (value: object, by: StandardSchemaV1 = schema): Promise<string> => {
  const outcome = await validateOptions(by, value);
  return outcome.ok ? "" : describeIssues(outcome.issues, by);
};

describe("what is wrong with options", () => {
  test.each([
    [{ name: "x", familys: [] }, 'unknown key "familys" (did you mean "families"?)'],
    [
      { name: "x", families: ["orderin"] },
      'families.0: must be one of ordering, arithmetic (did you mean ordering?), but it is "orderin"',
    ],
    [{ name: "x", rate: "fast" }, 'rate: must be a number, but it is "fast"'],
    [{ name: "x", rate: -1 }, "rate: must be above 0, but it is -1"],
    [{ name: "x", rewards: { formta: 1, format: 1 } }, 'unknown key "rewards.formta" (did you mean "format"?)'],
    [
      { name: "x", families: { orderign: 1, arithmetic: 1 } },
      'unknown key "families.orderign" (did you mean "ordering"?)',
    ],
    [{}, "name: is missing"],
  ])("%j", async (value, expected) => {
    expect(await described(value)).toBe(expected);
  });

  test("a removed key is named with what replaces it", async () => {
    const text = "it was removed: use `rate`";
    const changed = z.strictObject({ rate: z.number().optional() }, removedKeys({ speed: text }));
    expect(await described({ speed: 1 }, changed)).toBe('unknown key "speed" (it was removed: use `rate`)');
    expect(await described({ rat: 1 }, changed)).toBe('unknown key "rat" (did you mean "rate"?)');
    expect(await described({ toString: 1 }, changed)).toBe('unknown key "toString"');
  });

  test("what comes before a schema hides none of its keys, and the place of what is named is found again", async () => {
    expect(
      await described(
        { name: "x", familys: [] },
        z.preprocess((given) => given, schema),
      ),
    ).toContain('did you mean "families"?');
    expect(
      namedOption('Options of environment math@2: unknown key "rewards.formta" (did you mean "format"?).', {
        rewards: { formta: 1 },
      }),
    ).toEqual(["rewards", "formta"]);
    expect(namedOption("Options of environment math@2: rate: must be above 0, but it is -1.", { rate: -1 })).toEqual([
      "rate",
    ]);
    expect(namedOption("Options of environment math@2: name: is missing.", {})).toEqual([]);
  });

  test("a schema that is not zod's is quoted", async () => {
    const other: StandardSchemaV1 = {
      "~standard": {
        version: 1,
        vendor: "other",
        validate: () => ({ issues: [{ message: "must be round", path: ["wheel"] }] }),
      },
    };
    expect(await described({}, other)).toBe("wheel: must be round");
  });
});
