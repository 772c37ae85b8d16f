import { expect, test } from "@jest/globals";
import { messageText } from "@mrlm/kit";
import fc from "fast-check";
import { math } from "../src/index.ts";
import { solutionOf } from "../src/solution.ts";
import { prepare } from "./support/environment.ts";

const reply = fc.oneof(
  fc.string(),
  fc.integer().map((n) => `<answer>${n}</answer>`),
  fc.constant("<answer>?</answer>"),
  fc.constant(""),
);

test("no message to a policy contains the answer, unless the question does", async () => {
  const { context, options, tasks } = await prepare({ attempts: 4, difficulty_range: [1, 10] });
  const signal = new AbortController().signal;
  await fc.assert(
    fc.asyncProperty(fc.nat(9_999), fc.array(reply, { minLength: 4, maxLength: 4 }), async (index, replies) => {
      const task = await tasks.get("train", index);
      const { answer, steps } = solutionOf(task);
      const environment = await math.create(context, options);
      const first = await environment.reset({ task: task.id, signal });
      const received = [first.messages.map(messageText).join("\n").replace(String(task.public["question"]), "")];
      for (const text of replies) {
        const step = await environment.step(
          { agent: "agent", message: { role: "assistant", parts: [{ type: "text", text }] }, finishReason: "stop" },
          { signal },
        );
        received.push(JSON.stringify([step.observation, step.info ?? {}]));
        if (step.observation.agent === "") break;
      }
      for (const text of received) for (const secret of [answer, ...steps]) expect(text).not.toContain(secret);
    }),
  );
});
