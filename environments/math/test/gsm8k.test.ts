import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { messageText } from "@mrlm/kit";
import { demonstrate } from "../src/demonstrate.ts";
import { solutionOf } from "../src/solution.ts";
import { prepare } from "./support/environment.ts";

const path = fileURLToPath(new URL("../../../../shared/data/gsm8k_test.jsonl", import.meta.url));

(existsSync(path) ? describe : describe.skip)("GSM8K's test set (skipped without ../shared/data)", () => {
  test("all 1,319 demonstrations earn the full reward, and their neighbours' answers none", async () => {
    const { tasks, context, options, play } = await prepare({
      data: { path, eval_share: 0 },
      answer_schema: "boxed",
      rewards: { steps: 0.5 },
    });
    expect(tasks.splits).toEqual({ train: 1319, eval: 0 });
    const number = (answer: string): number => Number(answer.replaceAll(",", ""));
    const wrong: string[] = [];
    for (let i = 0; i < 1319; i++) {
      const id = `train/${i}`;
      const answer = solutionOf(await tasks.get("train", i)).answer;
      const neighbour = solutionOf(await tasks.get("train", (i + 1) % 1319)).answer;
      const response = messageText((await demonstrate(context, options, id)).messages.at(-1) as never);
      const [own] = await play(id, [response]);
      const [other] = await play(id, [`\\boxed{${neighbour}}`]);
      const [right, taken] = [own?.rewards["agent"], other?.rewards["agent"]];
      if (!(right?.scored && right.value === 1.5)) wrong.push(`${id}: ${JSON.stringify(right)} ${response}`);
      if (!(taken?.scored && taken.components["correct"] === Number(number(answer) === number(neighbour))))
        wrong.push(`${id}: ${neighbour} for ${answer}`);
    }
    expect(wrong).toEqual([]);
  });

  test("divided in two, no question stands on both sides", async () => {
    const { tasks } = await prepare({ data: { path, eval_share: 0.25 } });
    expect(tasks.splits).toEqual({ train: 989, eval: 330 });
  });
});
