import { describe, expect, test } from "@jest/globals";
import { messageText } from "@mrlm/kit";
import { demonstrate } from "../src/demonstrate.ts";
import { FAMILY_NAMES } from "../src/families/index.ts";
import { prepare } from "./support/environment.ts";

describe("demonstrations earn the full reward", () => {
  for (const family of FAMILY_NAMES) {
    test(`${family}: worked, at every difficulty and in every place for an answer`, async () => {
      for (const answer_schema of ["answer", "boxed", "gsm8k"]) {
        const { context, options, play } = await prepare({
          families: [family],
          difficulty_range: [1, 10],
          answer_schema,
          rewards: { steps: 1 },
        });
        for (let i = 0; i < 25; i++) {
          const id = `train/${i}`;
          const response = messageText((await demonstrate(context, options, id)).messages.at(-1) as never);
          const [step] = await play(id, [response]);
          expect([response, step?.rewards["agent"]]).toEqual([
            response,
            { scored: true, value: 2, components: { correct: 1, format: 1, steps: 1 } },
          ]);
        }
      }
    });
  }

  test("terse: the answer alone", async () => {
    const { context, options } = await prepare({ families: ["multi_step"], style: "terse" });
    const { messages } = await demonstrate(context, options, "train/0");
    expect(messages.map(messageText)[1]).toMatch(/^<answer>-?\d+<\/answer>$/);
  });
});
