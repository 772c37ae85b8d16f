import { callMessage, definePlugin, generatedTasks, messageText } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";

const splits = { train: { size: 60, share: 3 }, eval: { size: 20, share: 1 } };
const add = {
  type: "function",
  function: {
    name: "add",
    description: "Adds.",
    parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  },
};

/** Program with a tool, which answers from its last message. */
const sums = agentEnvironment({
  id: "sums@1",
  description: "Add two numbers with a tool.",
  determinism: "full",
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits,
      generate(random) {
        const [a, b] = [random.integer(1, 400), random.integer(1, 400)];
        return { public: { a, b }, private: { answer: `${a + b}` }, key: `${a} ${b}` };
      },
    }),
  limits: { calls: 5 },
  async run({ task, model }) {
    const messages: object[] = [{ role: "user", content: `${task.public.a} + ${task.public.b}` }];
    for (;;) {
      const response = await model.fetch(`${model.baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${model.apiKey}` },
        body: JSON.stringify({ model: model.name, messages, tools: [add] }),
      });
      if (!response.ok) return null;
      const { choices } = (await response.json()) as any;
      const [{ message }] = choices;
      messages.push(message);
      if (message.tool_calls === undefined) return message.content;
      for (const { id, function: called } of message.tool_calls) {
        const { a, b } = JSON.parse(called.arguments);
        messages.push({ role: "tool", tool_call_id: id, content: String(Number(a) + Number(b)) });
      }
    }
  },
  score: ({ end, task }) => (end.kind === "returned" ? Number(end.result === task.private.answer) : undefined),
  fixtures: [
    {
      name: "calls the tool, then answers",
      kind: "gold",
      task: "eval/0",
      policy: ({ turn, task, messages }) =>
        turn === 0
          ? callMessage("add", { a: task.public.a, b: task.public.b })
          : (messages
              .at(-1)
              ?.parts.map((part) =>
                part.type === "tool-result" ? messageText({ role: "tool", parts: part.content }) : "",
              )
              .join("") ?? ""),
      reward: 1,
    },
    { name: "is empty", kind: "nop", task: "eval/1", policy: () => "", reward: 0 },
    {
      name: "repeats the question",
      kind: "cheat",
      task: "eval/2",
      policy: ({ task }) => `${task.public.a}`,
      reward: 0,
    },
    { name: "writes a call as text", kind: "malformed", task: "eval/3", policy: () => "add(1, 2)", reward: 0 },
    {
      name: "the same calls",
      kind: "determinism",
      task: "eval/4",
      seed: 1,
      policy: ({ turn }) => callMessage("add", { a: turn, b: 1 }),
    },
  ],
});

environmentContract({
  plugins: [definePlugin({ name: "sums", environments: [sums] })],
  environment: "sums@1",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
});
