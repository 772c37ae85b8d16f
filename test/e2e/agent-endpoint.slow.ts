import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import { agentEnvironment } from "@mrlm/kit/agent";
import policyOpenai from "@mrlm/policy-openai";
import type { Trajectory } from "@mrlm/spec";
import { type ChatServerReply, startChatServer, trainBigram } from "@mrlm/testing";

// Case m of programs: a role of a program in a process is played by an endpoint, and is not learnt.
const PROGRAM = fileURLToPath(new URL("support/asking-program.mjs", import.meta.url));
const run = promisify(execFile);
const results: unknown[] = [];
/** Ends of the processes of programs. */
const programs: Promise<unknown>[] = [];

const environment = agentEnvironment<unknown>({
  id: "asking@1",
  description: "A planner and a helper.",
  tasks: () => ({
    splits: { train: 8, eval: 0 },
    get: async (split: string, index: number) => ({ id: `${split}/${index}`, public: {}, private: {} }),
  }),
  roles: { planner: {}, helper: { many: true } },
  async run({ model, signal }) {
    const { env } = await model.listen();
    const program = run(process.execPath, [PROGRAM], { env, signal, killSignal: "SIGKILL" });
    programs.push(program.catch(() => undefined));
    const { stdout } = await program;
    return JSON.parse(stdout);
  },
  score({ end }) {
    results.push(end);
    return end.kind === "returned" ? String((end.result as string[])[0]).length / 8 : undefined;
  },
});

/** Trains one step with a group of two episodes, whose helper is an endpoint. */
async function trained(reply: (messages: readonly { readonly content: unknown }[]) => ChatServerReply) {
  const server = await startChatServer(({ body }) => reply(body.messages));
  const helper = { endpoint: server.baseUrl, model: "helper", options: { max_retries: 0, max_tokens: 6 } };
  const { played, reports } = await trainBigram({
    algorithms: [grpo],
    plugins: [policyOpenai],
    environments: [environment as never],
    stages: [{ algorithm: "grpo", steps: 1, prompts_per_step: 1, group_size: 2, learning_rate: 0.1 }],
    config: { environments: [{ id: "asking", players: { helper } }] },
  }).finally(() => void server.close());
  const episodes = played.flat().flatMap(({ trajectories }) => trajectories) as readonly Trajectory[];
  return { episodes, reports, requests: server.requests.map(({ body }) => body) };
}

test("an endpoint answers the calls of its role as the program sent them; the policy alone learns", async () => {
  const look = { id: "1", type: "function", function: { name: "look", arguments: '{"at":"cat"}' } };
  const { episodes, reports, requests } = await trained((messages) =>
    messages.at(-1)?.content === "look" ? { message: { content: null, tool_calls: [look] } } : "a cat",
  );
  expect(results.splice(0)).toEqual(
    episodes.map(() => ({
      kind: "returned",
      result: [expect.any(String), { name: "look", arguments: '{"at":"cat"}' }, "a cat"],
    })),
  );
  expect(episodes).toHaveLength(2);
  for (const { agents, turns, error } of episodes) {
    expect(error).toBeUndefined();
    expect(turns.map(({ agent, isFresh = false }) => [agent, isFresh])).toEqual([
      ["planner", false],
      ["helper#1", false],
      ["helper#1", false],
      ["helper#1", true],
      ["helper#2", false],
      ["helper#3", false],
    ]);
    for (const [agent, { player, segments, total }] of Object.entries(agents)) {
      const isPolicy = agent === "planner";
      expect([player.kind, segments.length, total.scored]).toEqual([
        isPolicy ? "policy" : "endpoint",
        isPolicy ? 1 : 0,
        true,
      ]);
    }
  }
  expect(reports[0]?.metrics).toMatchObject({ "agent/calls": { sum: 12, count: 2 } });
  // Each call has the history of its own conversation, the tools, and the lower limit of tokens.
  const texts = requests.map(({ messages, max_tokens }) => [messages.map(({ content }) => content), max_tokens]);
  expect(new Set(texts.map((each) => JSON.stringify(each)))).toEqual(
    new Set(
      [
        [["look"], 3],
        [["look", null, "a cat"], 6],
        [["summary", "a cat", "more"], 6],
        [["2"], 6],
        [["3"], 6],
      ].map((each) => JSON.stringify(each)),
    ),
  );
  for (const { tools } of requests) expect(tools).toMatchObject([{ function: { name: "look" } }]);
}, 120_000);

test("an endpoint that fails ends the episode without a score, and its program", async () => {
  const { episodes, reports } = await trained(() => (response) => void response.writeHead(500).end("down"));
  expect(episodes.map(({ error }) => error?.code)).toEqual(["ENDPOINT_FAILED", "ENDPOINT_FAILED"]);
  expect(reports[0]).toMatchObject({ credits: [], metrics: { "episodes/failed": 2 } });
  expect(results).toEqual([]);
  expect(programs).toHaveLength(4);
  await Promise.all(programs);
}, 120_000);
