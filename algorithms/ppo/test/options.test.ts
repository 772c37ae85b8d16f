import { expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/kit/learning";
import { ppoOptions } from "../src/options.ts";

test.each<[JsonObject, string, RegExp]>([
  [{ on_length: "mask", cut_penalty: 0.5 }, "cut_penalty", /leaves cut episodes out/],
  [{ updates_per_step: 1, stop_kl: 0.1 }, "stop_kl", /one update of each batch/],
  [{ updates_per_step: 1, value_clip: 0.2 }, "value_clip", /one update of each batch/],
  [{ mismatch: "mask", old_policy: "sampler" }, "mismatch", /which old_policy: sampler does not use/],
  [{ mismatch: "truncate", mismatch_floor: 0.5 }, "mismatch_floor", /has no lower bound/],
  [{ critic_warmup_steps: 3 }, "critic_warmup_steps", /the policy would never learn/],
])("what can have no effect is refused: %j", (options, name, why) => {
  expect(ppoOptions.safeParse({ steps: 3, ...options }).error?.issues).toMatchObject([
    { path: [name], message: expect.stringMatching(why) },
  ]);
});

test("with several updates a batch they have one", () => {
  for (const options of [{ updates_per_step: 2 }, { updates_per_step: 1, minibatches: 2 }])
    expect(
      ppoOptions.safeParse({ steps: 3, stop_kl: 0.1, value_clip: 0.2, critic_warmup_steps: 2, ...options }).success,
    ).toBe(true);
});
