import { describe, expect, test } from "@jest/globals";
import { type Action, type EnvironmentContext, type JsonObject, score, unscored } from "@mrlm/spec";
import { z } from "zod";
import { listedTasks, randomStream, singleTurn, textMessage } from "../src/index.ts";

const options = z.strictObject({ polite: z.boolean().default(false) });
const rows = { train: [{ q: "2+2", a: "4" }], eval: [{ q: "3+3", a: "6" }] };

const sums = singleTurn({
  id: "sums@1",
  description: "Add two numbers.",
  options,
  tasks: () => listedTasks(rows, ({ q, a }) => ({ public: { q }, private: { a } })),
  prompt: ({ q }, { polite }) => (polite ? [textMessage("system", "Please."), textMessage("user", q)] : q),
  answer: ({ private: { a } }) => a,
  score(text, { private: { a } }, { signal }) {
    if (text === "?") return unscored("JUDGE_DOWN", "no judge");
    if (text === "4.0") return score(0.5, { aborted: Number(signal.aborted) });
    return text === a ? 1 : 0;
  },
});

const context = async () =>
  ({
    tasks: await sums.tasks?.({} as never, { polite: false }),
    random: randomStream,
  }) as unknown as EnvironmentContext<{ q: string }, { a: string }>;
const respond = (text: string): Action => ({
  agent: "agent",
  message: textMessage("assistant", text),
  finishReason: "stop",
});
const { signal } = new AbortController();

describe("singleTurn", () => {
  test.each([
    ["4", { scored: true, value: 1, components: {} }],
    ["5", { scored: true, value: 0, components: {} }],
    ["4.0", { scored: true, value: 0.5, components: { aborted: 0 } }],
    ["?", { scored: false, code: "JUDGE_DOWN" }],
  ])("ends after the response %s with its reward", async (text, reward) => {
    const environment = await sums.create(await context(), { polite: false });
    expect(await environment.reset({ task: "train/0", signal })).toEqual({
      agent: "agent",
      messages: [textMessage("user", "2+2")],
    });
    expect(await environment.step(respond(text), { signal })).toMatchObject({
      rewards: { agent: reward },
      terminated: { agent: true },
    });
  });

  test("the same environment plays one task after another, and draws one for a reset that names none", async () => {
    const environment = await sums.create(await context(), { polite: true });
    await environment.reset({ task: "train/0", signal });
    await environment.reset({ task: "eval/0", signal });
    expect(await environment.step(respond("6"), { signal })).toMatchObject({ rewards: { agent: { value: 1 } } });
    expect((await environment.reset({ seed: 3, signal })).messages).toEqual([
      textMessage("system", "Please."),
      textMessage("user", "2+2"),
    ]);
  });

  test("demonstrates where the answer is known, with the messages of a reset", async () => {
    expect(await sums.demonstrate?.(await context(), { polite: false }, "train/0")).toEqual({
      task: "train/0",
      agent: "agent",
      messages: [textMessage("user", "2+2"), textMessage("assistant", "4")],
    });
    expect(singleTurn(bare).demonstrate).toBeUndefined();
  });

  test("determinism is full unless stated", () => {
    expect(sums.determinism).toBe("full");
    expect(singleTurn({ ...bare, determinism: "none" }).determinism).toBe("none");
  });

  // Types are checked by `npm run lint`: the line after `@ts-expect-error` must not compile.
  test("a prompt has no private fields, and the fields have the types that `tasks` gives them", () => {
    singleTurn({
      ...bare,
      tasks: () => listedTasks(rows, ({ q, a }) => ({ public: { q }, private: { a } })),
      // @ts-expect-error -- `a` is private
      prompt: ({ a }) => a,
    });
    singleTurn({
      ...bare,
      tasks: () => listedTasks(rows, ({ q, a }) => ({ public: { q }, private: { a } })),
      // @ts-expect-error -- no such field
      answer: ({ private: { b } }) => b,
    });
  });
});

const bare = {
  id: "bare@1",
  description: "",
  tasks: () => listedTasks<object, JsonObject, JsonObject>({}, () => ({ public: {}, private: {} })),
  prompt: () => "",
  score: () => 0,
} as const;
