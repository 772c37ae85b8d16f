// Types of tools and of environments with tools. `tsc --build` compiles this file; nothing runs it.
import { z } from "zod";
import { listedTasks, tool, toolEnvironment, type Tool, toolset } from "../../src/index.ts";

const add = tool({
  description: "Adds.",
  parameters: z.strictObject({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }, { signal }) => {
    signal satisfies AbortSignal;
    return (a satisfies number) + (b satisfies number);
  },
});

tool({
  description: "",
  parameters: z.object({ a: z.string() }),
  // @ts-expect-error the schema has no such argument
  execute: ({ b }) => b,
});

tool({
  description: "",
  parameters: z.object({}),
  // @ts-expect-error a date is no JSON value
  execute: () => new Date(0),
});

const named = {
  ...tool({ description: "", parameters: { type: "object" }, execute: ({ any }) => any ?? null }),
  name: "a",
};
named satisfies Tool;
toolset([named]);
toolset({ add });
toolset(({ files, seed }) => ({
  add,
  other: tool({ description: `${Object.keys(files ?? {}).length + (seed ?? 0)}`, execute: () => "" }),
}));

toolEnvironment({
  id: "a@1",
  description: "",
  options: z.strictObject({ size: z.int().default(3) }),
  tasks: (_context, { size }) =>
    listedTasks({ train: [size], eval: [0] }, (n) => ({ public: { n }, private: { sum: n + 1 } })),
  prompt: (shown, { size }) => {
    // @ts-expect-error the prompt receives no private part
    void shown.sum;
    return `${shown.n satisfies number}${size}`;
  },
  tools: ({ task, options }) => ((task.private.sum satisfies number) > options.size ? { add } : {}),
  score: (answer, { private: { sum } }, { messages }) => Number(Number(answer) === sum && messages.length > 0),
  solve: ({ private: { sum } }) => [String(sum)],
});

toolEnvironment({
  id: "b@1",
  description: "",
  tasks: () => listedTasks({ train: [1], eval: [2] }, (n) => ({ public: { n }, private: {} })),
  prompt: () => "?",
  tools: { add },
  // @ts-expect-error a score is a number or a reward
  score: () => "good",
});
