import { describe, expect, test } from "@jest/globals";
import { familyMixture } from "@mrlm/kit";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { z } from "zod";
import { describeIssues, validateOptions } from "../src/plugins/standard-options.ts";

const schema = z.strictObject({ families: familyMixture(["ordering", "arithmetic"]).optional(), rate: z.number().positive().optional(), name: z.string() });
const said = async (value: object, by: StandardSchemaV1 = schema): Promise<string> => {
  const outcome = await validateOptions(by, value);
  return outcome.ok ? "" : describeIssues(outcome.issues, by);
};

describe("what is wrong with options", () => {
  test.each([
    [{ name: "x", familys: [] }, 'unknown key "familys" (did you mean "families"?)'],
    [{ name: "x", families: ["orderin"] }, 'families.0: must be one of ordering, arithmetic (did you mean ordering?), but it is "orderin"'],
    [{ name: "x", rate: "fast" }, 'rate: must be a number, but it is "fast"'],
    [{ name: "x", rate: -1 }, "rate: must be above 0, but it is -1"],
    [{}, "name: is missing"],
  ])("%j", async (value, expected) => {
    expect(await said(value)).toBe(expected);
  });

  test("a schema that is not zod's is quoted", async () => {
    const other: StandardSchemaV1 = { "~standard": { version: 1, vendor: "other", validate: () => ({ issues: [{ message: "must be round", path: ["wheel"] }] }) } };
    expect(await said({}, other)).toBe("wheel: must be round");
  });
});
