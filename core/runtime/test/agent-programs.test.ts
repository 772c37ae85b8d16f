import { expect, test } from "@jest/globals";
import { type AgentDefinition, agentEnvironment, type AgentModel } from "@mrlm/kit/agent";
import { episodeMetrics, noEpisodeCounts } from "@mrlm/kit/learning";
import { observe, singleStep, textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, MrlmError, score, type Trajectory } from "@mrlm/spec";
import type { RolloutRequest } from "@mrlm/spec/host";
import { inProcess, overGrpc, type Transport } from "@mrlm/testing";
import { assertCredits, learnableParts } from "../src/play/credits.ts";
import { collect, localHost, runner } from "./support/rollouts.ts";

const tasks = () => ({
  splits: { train: 8, eval: 0 },
  get: async (split: string, index: number) => ({ id: `${split}/${index}`, public: { index }, private: {} }),
});
const user = (content: string) => ({ role: "user", content });

/** Asks the model. Throws for an error. */
async function ask(
  { baseURL, apiKey, fetch: send, name }: AgentModel,
  messages: readonly object[],
  body: object = {},
  headers: Record<string, string> = {},
) {
  const response = await send(`${baseURL}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    body: JSON.stringify({ model: name, messages, ...body }),
  });
  const answer = (await response.json()) as any;
  if (response.status !== 200) throw new Error(answer.error.code);
  return answer.choices[0].message;
}

type Definition = AgentDefinition<unknown, { readonly index: number }, {}>;
const talk = (definition: Pick<Definition, "run"> & Partial<Definition>): EnvironmentDefinition<any> =>
  agentEnvironment<unknown, { readonly index: number }, {}>({
    id: "talk@1",
    description: "Questions.",
    determinism: "full",
    tasks,
    score: ({ calls }) => (calls.at(-1)?.response.parts.length ?? 0) / 2,
    ...definition,
  });

/** Three questions as a program, and by hand. */
const program = talk({
  async run({ model, task, seed }) {
    const messages: object[] = [user(`a ${task.public.index} ${seed}`)];
    for (const next of ["b", "c", ""]) {
      const { content } = await ask(model, messages);
      messages.push({ role: "assistant", content }, user(next));
    }
  },
});
const native: EnvironmentDefinition<any> = {
  id: "talk@1",
  description: "Questions.",
  determinism: "full",
  tasks,
  create: ({ tasks: source }) => {
    let turn = 0;
    return {
      async reset({ task = "", seed }) {
        const { public: shown } = await source.get("train", Number(task.split("/")[1]));
        turn = 0;
        return observe([textMessage("user", `a ${(shown as { index: number }).index} ${seed}`)]);
      },
      async step({ message }) {
        const next = ["b", "c"][turn++];
        if (next !== undefined) return singleStep({ messages: [textMessage("user", next)] });
        return singleStep({ reward: score(message.parts.length / 2), terminated: true });
      },
    };
  },
};

async function played(
  definition: EnvironmentDefinition<any>,
  { transport = inProcess, ...options }: { transport?: Transport; tokenLimit?: () => number } = {},
  changes: Partial<RolloutRequest> = {},
) {
  const host = await localHost(definition);
  const connected = await transport(host);
  const groups = await collect(await runner({ host: connected, ...options }), {
    environment: { id: "talk" },
    ...changes,
  });
  await connected.close();
  await host.close();
  return groups.flatMap(({ trajectories }) => trajectories);
}

/** Returns what does not depend on the clock and on counts of calls. */
const learnt = (trajectories: readonly Trajectory[]): unknown =>
  trajectories.map(({ seconds: _, info: __, ...rest }) => rest);
const once = { tasks: ["train/0"], groupSize: 1 };

test("a task as a program has the tokens, rewards and turns of the same task by hand, here and over gRPC", async () => {
  const expected = await played(native);
  expect(expected).toHaveLength(12);
  for (const { turns, error } of expected) expect([turns.length, error]).toEqual([3, undefined]);
  expect(learnt(await played(program))).toEqual(learnt(expected));
  expect(learnt(await played(program, { transport: overGrpc() }))).toEqual(learnt(expected));
});

test("a call limits its tokens, and the limit of the run stays", async () => {
  const short = talk({
    async run({ model }) {
      await ask(model, [user("a")], { max_tokens: 2 });
      await ask(model, [user("b")], { max_completion_tokens: 99 });
    },
  });
  for (const transport of [inProcess, overGrpc()]) {
    const [trajectory] = await played(short, { transport }, once);
    const lengths = trajectory?.turns.map(({ tokens }) => (tokens?.end ?? 0) - (tokens?.start ?? 0));
    expect([(lengths?.[0] ?? 9) <= 2, (lengths?.[1] ?? 99) <= 12]).toEqual([true, true]);
  }
});

test("a full context: the program learns of it and is scored; the agent is truncated, and its tokens stay", async () => {
  const full = talk({
    roles: { main: { many: true } },
    async run({ model }) {
      const messages: object[] = [user("abcdefgh".repeat(3))];
      for (;;) {
        const { content } = await ask(model, messages);
        messages.push({ role: "assistant", content }, user("abcdefgh".repeat(3)));
      }
    },
    score: ({ end }) => (end.kind === "failed" && end.error.includes("context_length_exceeded") ? 0.5 : 0),
  });
  const [trajectory] = await played(full, { tokenLimit: () => 100 }, once);
  expect(trajectory?.error).toBeUndefined();
  expect(trajectory?.agents["main#1"]).toMatchObject({
    total: score(0.5),
    end: { truncated: true, truncatedBy: "tokens" },
  });
  expect(trajectory?.turns.length).toBeGreaterThan(1);
});

test("a lost session is restored by a new run of the program, also where a call was repeated in the first one", async () => {
  const lossy =
    (losses: number): Transport =>
    async (host) => ({
      ...(await inProcess(host)),
      async open(environment, options) {
        const session = await host.open(environment, options);
        return {
          description: session.description,
          reset: (each) => session.reset(each),
          close: () => session.close(),
          async step(action, each) {
            const result = await session.step(action, each);
            if (losses-- <= 0) return result;
            await session.close();
            throw new MrlmError("SESSION_NOT_FOUND", "the server was restarted");
          },
        };
      },
    });
  let runs = 0;
  const retried = talk({
    async run({ model }) {
      const headers = { "x-stainless-retry-count": "1" };
      const isFirst = runs++ === 0;
      const messages: object[] = [user("a")];
      for (const next of ["b", "c"]) {
        const { content } = await ask(model, messages);
        if (isFirst) expect((await ask(model, messages, {}, headers)).content).toBe(content);
        messages.push({ role: "assistant", content }, user(next));
      }
    },
  });
  const [restored] = await played(retried, { transport: lossy(1) }, once);
  expect(restored?.error).toBeUndefined();
  expect(runs).toBe(2);
  expect(learnt([restored as Trajectory])).toEqual(learnt(await played(retried, {}, once)));
});

test("the tokens of an answer that the program has not read are not learnt, and are counted", async () => {
  const leaving = talk({
    async run({ model }) {
      // A stream begins at once. Its body is never read.
      await model.fetch(`${model.baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${model.apiKey}` },
        body: JSON.stringify({ model: model.name, messages: [user("a")], stream: true }),
      });
      await ask(model, [user("b")]);
    },
  });
  const host = await localHost(leaving);
  const groups = await collect(await runner({ host }), { environment: { id: "talk" }, ...once });
  const [trajectory] = groups.flatMap(({ trajectories }) => trajectories);
  const segments = trajectory?.agents["agent"]?.segments ?? [];
  const lengths = segments.map(({ versions }) => versions.filter((version) => version >= 0).length);
  expect(segments.map(({ mask }) => mask.includes(1))).toEqual([false, true]);
  // The store has a number for each token of its masks.
  const learntTokens = segments[1]?.mask.reduce((sum, bit) => sum + bit, 0) ?? 0;
  const credit = { trajectory: trajectory?.id ?? "", agent: "agent", advantage: new Float32Array(learntTokens) };
  expect(() => assertCredits([credit], learnableParts(groups, "policy"), "test")).not.toThrow();
  const metrics = episodeMetrics(groups, noEpisodeCounts(), { policy: "policy" });
  expect(metrics).toMatchObject({
    "agent/wasted_tokens": { sum: lengths[0], count: 1 },
    "agent/forked": { sum: 1, count: 1 },
    "agent/calls": { sum: 2, count: 1 },
  });
  await host.close();
});

test.each([false, true])("an episode that the run ends before its program is unscored (many: %s)", async (many) => {
  let scores = 0;
  const long = talk({
    roles: { main: { many } },
    async run({ model }) {
      const messages: object[] = [user("a")];
      for (let i = 0; i < 5; i++) {
        const { content } = await ask(model, messages);
        messages.push({ role: "assistant", content }, user("b"));
      }
    },
    score: () => ++scores,
  });
  const agent = many ? "main#1" : "main";
  const [cut] = await played(long, {}, { ...once, maxTurns: 3 });
  expect([cut?.turns.length, cut?.agents[agent]?.end, scores]).toEqual([
    3,
    { terminated: false, truncated: true, truncatedBy: "turns" },
    0,
  ]);
  expect(cut?.agents[agent]?.total).toMatchObject({ scored: false, code: "AGENT_CUT" });
  const [full] = await played(long, { tokenLimit: () => 40 }, once);
  expect(full?.agents[agent]).toMatchObject({ total: score(1), end: { truncated: true, truncatedBy: "tokens" } });
});
