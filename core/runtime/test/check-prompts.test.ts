import { afterAll, expect, test } from "@jest/globals";
import { observe, singleStep, textMessage } from "@mrlm/kit";
import { score } from "@mrlm/spec";
import { checkPrompts } from "../src/prepare/check-prompts.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { CONFIG, prepare, removeTemporaryDirectories } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

/** Environment whose prompts are the letter "a", as often as the number of the task. */
const growing = counterEnvironment({
  id: "growing@1",
  options: undefined,
  create: () => ({
    reset: async ({ task }) => observe([textMessage("user", "a".repeat(Number(String(task).split("/")[1])))]),
    step: async () => singleStep({ reward: score(0), terminated: true }),
  }),
});

async function check(changes: object, { alphabet = "abcdefgh0123456789", positions = 64 } = {}) {
  const random = {
    config: { initializer_range: 0.5, max_position_embeddings: positions },
    tokenizer: { characters: { alphabet } },
  };
  const { prepared, host } = await prepare({ ...CONFIG, model: { random }, ...changes }, growing);
  return checkPrompts(prepared, host).finally(() => void host.close());
}

test("N8: the dry run renders prompts of training and evaluation", async () => {
  expect(await check({})).toEqual({ rendered: 8 + 4, notices: [] });
  expect(await check({ eval: { tasks: 0 } })).toEqual({ rendered: 8, notices: [] });
});

test("N8: the dry run reports characters that the tokenizer lacks, with the task", async () => {
  await expect(check({}, { alphabet: "abcdefgh" })).rejects.toMatchObject({
    code: "TOKENIZER_INVALID",
    message: expect.stringMatching(/^The prompt of task train\/0 of letters@1 cannot be rendered\. .*"0"/),
  });
});

test("N8: the dry run reports prompts that leave no room for an answer: some as a notice, all as an error", async () => {
  const changes = { environments: [{ id: "growing" }], eval: { tasks: 0 } };
  const whole = await check(changes);
  expect(whole.notices).toEqual([]);
  // Other tokens of the prompt are markers of roles.
  const { notices } = await check({ ...changes, sampling: { max_tokens: 8, max_sequence_tokens: 9 } });
  expect(notices).toEqual([
    expect.stringMatching(
      /^The prompt of task train\/\d of growing@1 has \d+ tokens, .* within 9; \d of 8 rendered prompts are too long/,
    ),
  ]);
  await expect(check(changes, { positions: 1 })).rejects.toMatchObject({
    code: "SEQUENCE_TOO_LONG",
    message: expect.stringMatching(/^The prompt of task train\/0 of growing@1 has .* within 1; so do all 8/),
  });
});
