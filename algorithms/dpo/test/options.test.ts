import { expect, test } from "@jest/globals";
import type { JsonObject, TrainingEnvironment } from "@mrlm/kit/learning";
import { dpo } from "../src/index.ts";
import { dpoOptions } from "../src/options.ts";

test.each<[JsonObject, string, RegExp]>([
  [{ group_size: 4, pairs_per_group: 3 }, "pairs_per_group", /more than a group of 4 has pairs/],
  [{ collect_every: 3 }, "collect_every", /nothing would be played anew/],
])("options without an effect are refused: %j", (options, name, why) => {
  expect(dpoOptions.safeParse({ steps: 3, ...options }).error?.issues).toMatchObject([
    { path: [name], message: expect.stringMatching(why) },
  ]);
});

test("episodes that are all the same make no pairs; pairs of a file need none", () => {
  const validate = (options: JsonObject): void =>
    dpo.validate?.(dpoOptions.parse({ steps: 3, ...options }), [{} as TrainingEnvironment], {
      temperature: 0,
      maxTokens: 8,
    });
  expect(() => validate({})).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("temperature is 0") }),
  );
  expect(() => validate({ data: "pairs.jsonl" })).not.toThrow();
});
