import { grpo } from "@mrlm/grpo";
import { callMessage, textMessage } from "@mrlm/kit";
import { agentEnvironment, type AgentModel } from "@mrlm/kit/agent";
import { trainBigram } from "@mrlm/testing";

const user = (content: string) => ({ role: "user", content });
const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];

async function ask(model: AgentModel, body: object, headers: Record<string, string> = {}): Promise<any> {
  const response = await model.fetch(`${model.baseURL}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${model.apiKey}`, ...headers },
    body: JSON.stringify({ model: model.name, ...body }),
  });
  return ((await response.json()) as any).choices[0].message;
}

/** Leaves a call: its answer is sampled and never read. */
async function leave(model: AgentModel, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${model.apiKey}` };
  const sent = JSON.stringify({ model: model.name, stream: true, ...body });
  await model.fetch(`${model.baseURL}/chat/completions`, { method: "POST", headers, body: sent });
}

/** Program whose planner continues, is asked again, forks, is compacted and left; two workers act, and a helper calls a tool. */
const program = agentEnvironment({
  id: "planned@1",
  description: "A planner, workers and a helper.",
  tasks: () => ({
    splits: { train: 64, eval: 4 },
    get: async (split: string, index: number) => ({ id: `${split}/${index}`, public: { index }, private: {} }),
  }),
  roles: { planner: {}, worker: { many: true }, helper: {} },
  scriptedPolicies: {
    looks: () => ({
      act: async ({ agent, messages }) => ({
        agent,
        message: messages.at(-1)?.role === "tool" ? textMessage("assistant", "1") : callMessage("look", { place: "0" }),
        finishReason: "stop" as const,
      }),
    }),
  },
  async run({ model, task }) {
    const first = [user(`${task.public.index}`)];
    const planned = await ask(model, { messages: first });
    await ask(model, { messages: first }, { "x-stainless-retry-count": "1" });
    const [one] = await Promise.all(["1", "2"].map((text) => ask(model.role("worker"), { messages: [user(text)] })));
    const helper = model.role("helper");
    const called = await ask(helper, { messages: [user("3")], tools: TOOLS });
    const result = { role: "tool", tool_call_id: called.tool_calls[0].id, content: "0123" };
    await ask(helper, { messages: [user("3"), called, result], tools: TOOLS });
    await ask(model, { messages: [...first, planned, user("4")] });
    await ask(model.role("worker"), { messages: [user("1"), one, user("5")] });
    await leave(model, { messages: [...first, { role: "assistant", content: "0" }, user("6")] });
    await ask(model, { messages: [...first, planned, user("7")] });
    await leave(model, { messages: [...first, planned, user("8")] });
    return planned.content;
  },
  score: ({ end }) => (end.kind === "returned" && String(end.result).includes("1") ? 1 : 0),
});

/** Trains a small run whose episodes are runs of a program, in a folder. Returns its directory. */
export async function runWithCalls(folder: string, name: string): Promise<string> {
  const stage = { algorithm: "grpo", steps: 2, prompts_per_step: 4, group_size: 4, learning_rate: 0.5 };
  const environments = [{ id: "planned@1", players: { helper: { scripted: "looks" } } }];
  const { summary } = await trainBigram({
    algorithms: [grpo],
    environments: [program as never],
    stages: [stage],
    config: { name, output: folder, environments },
  });
  return summary.directory;
}
