import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "@jest/globals";
import { debate } from "@mrlm/environment-debate";
import { grpo } from "@mrlm/grpo";
import { nim } from "@mrlm/environment-nim";
import judgeLlm from "@mrlm/judge-llm";
import type { LlmOptions } from "../../plugins/judge-llm/src/options.ts";
import { definePlugin } from "@mrlm/kit";
import judgeRules from "@mrlm/judge-rules";
import { episodesNotLearnt, RunDirectory } from "@mrlm/runtime";
import { startChatServer, trainBigram } from "@mrlm/testing";
import { verdictByLength } from "../judges/support/verdict-by-length.ts";
import { run } from "./support/mrlm.ts";
import { runHere } from "./support/run-here.ts";

/** Trains a bigram model for one step, against stock arguments. */
async function trained(
  environments: Parameters<typeof trainBigram>[0]["environments"],
  config: object,
  judge: object = judgeRules,
): Promise<string> {
  const alphabet = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("");
  const { summary } = await trainBigram({
    algorithms: [grpo],
    ...(environments === undefined ? {} : { environments }),
    plugins: [judge as never],
    stages: [{ algorithm: "grpo", steps: 1, prompts_per_step: 4, group_size: 2 }],
    config: {
      model: {
        random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: `${alphabet}\n` } } },
      },
      ...config,
    } as never,
  });
  return summary.directory;
}

test("the debates of a run are judged again, and a run without a judge is refused", async () => {
  const directory = await trained([debate as never], {
    environments: [{ id: "debate", options: { turns: 2 }, players: { pro: "policy", con: { scripted: "stock" } } }],
  });
  const judge = (...flags: string[]) => runHere(["score", "--run", directory, ...flags]);
  const same = await judge("--judge", "rules", "--json");
  expect(same).toMatchObject({ code: 0 });
  const episodes = same.events.filter(({ event }) => event === "episode");
  expect(episodes).toHaveLength(8);
  for (const { outcome, agents, judgements } of episodes as any[]) {
    expect(outcome).toBe("judged");
    for (const { before, after } of Object.values<any>(agents)) expect(after).toBe(before);
    expect(judgements).toMatchObject([
      { judge: "rules@1", step: 3, reason: expect.stringMatching(/^pro 0\.\d\d .*con 0\./) },
    ]);
  }
  expect(same.events.at(-1)).toMatchObject({
    event: "agreement",
    judges_before: ["rules@1"],
    judged: 8,
    verdicts_equal: 8,
    verdicts: 8,
    orders_equal: 8,
    agents: [
      { agent: "con", scored: 8, kendall_tau_b: 1 },
      { agent: "pro", scored: 8, kendall_tau_b: 1 },
    ],
  });
  const options =
    '{"weights": {"argument": {"length": 1, "evidence": 0, "reasoning": 0, "structure": 0, "relevance": 0}}}';
  const other = await judge("--judge", "rules@1", "--judge-options", options, "-n", "4");
  expect(other).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^4 of 4 episodes judged again: rules@1 before, rules@1 now\n/),
  });
  expect(other.stdout).toMatch(/\nequal verdicts +\d of 4 \(\d+ %\)\n/);
  const server = await startChatServer(({ body }) =>
    verdictByLength(body.messages.map(({ content }) => content).join("\n")),
  );
  const model = { endpoint: { base_url: server.baseUrl, model: "judge" } };
  const asked = await judge("--judge", "llm", "--judge-options", JSON.stringify(model), "--json").finally(
    () => void server.close(),
  );
  expect(asked.code).toBe(0);
  expect(server.requests).toHaveLength(16);
  for (const { agents, judgements, verdict_after: verdict } of asked.events.filter(
    ({ event }) => event === "episode",
  ) as any[]) {
    expect([agents.pro.after, agents.con.after]).toEqual(verdict === "pro" ? [1, -1] : [-1, 1]);
    expect(judgements).toMatchObject([{ judge: "llm@2" }]);
  }
  for (const [flags, message] of [
    [["--judge", "rule"], /REQUIREMENT_MISSING.*judge "rule".*rules/],
    [["--judge", "rules", "--scorer", "math"], /--judge judges the episodes of a run/],
    [
      ["--scorer", "math", "--query", "select 1", "-n", "3"],
      /--num-episodes has no effect without --judge or --run alone/,
    ],
  ] as const)
    expect(await judge(...flags)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
  const game = await trained([nim as never], { environments: [{ id: "nim" }] });
  expect(await runHere(["score", "--run", game, "--judge", "rules"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/USAGE: No environment of .* has a judge: nim/),
  });
});

test.each([
  [0, (text: string) => verdictByLength(text)],
  [8, () => "I like both."],
])(
  "N10: GRPO with a judge over an endpoint without structured output: %i episodes are not learnt",
  async (lost, answer) => {
    const server = await startChatServer(({ body }) =>
      body["response_format"] === undefined
        ? answer(body.messages.map(({ content }) => content).join("\n"))
        : (response) =>
            void response.writeHead(400).end('{"error":{"message":"Unsupported parameter: response_format"}}'),
    );
    const given = await judgeLlm.options?.["~standard"].validate({
      endpoint: { base_url: server.baseUrl, model: "judge" },
    });
    const options = (given as { readonly value: LlmOptions }).value;
    const plugin = definePlugin({
      name: "judge",
      judges: { "llm@2": (context) => judgeLlm.judges["llm@2"](context, options) },
    });
    const players = { pro: "policy", con: { scripted: "stock" } };
    const environments = [{ id: "debate", options: { turns: 2, judge: "llm@2" }, players }];
    const directory = await trained([debate as never], { environments }, plugin).finally(() => void server.close());
    expect(episodesNotLearnt(RunDirectory.open(directory).metrics.rows())).toBe(lost);
  },
);

test("D21: mrlm score --run scores the episodes of a run again, and names those whose rewards differ", async () => {
  const game = await trained([nim as never], { environments: [{ id: "nim" }] });
  const same = await run(["score", "--run", game, "--json"]);
  expect(same.code).toBe(0);
  expect(same.events.at(-1)).toMatchObject({ event: "scored", episodes: 8, repeated: 8, equal: 8, differ: 0, lost: 0 });
  const [first] = same.events.filter(({ event }) => event === "episode");
  expect(first).toMatchObject({ outcome: "equal", step: 1, stage: "grpo", before: first?.["after"] as object });
  const database = new DatabaseSync(join(game, "episodes.sqlite"));
  const key = Number(first?.["episode_key"]);
  database.prepare("UPDATE parts SET reward = 0.5, total = json_set(total, '$.value', 0.5) WHERE episode = ?").run(key);
  database.close();
  const changed = await run(["score", "--run", game, "--task", "train"]);
  expect(changed.stdout).toMatch(/^8 of 8 episodes repeated: 7 earn the stored rewards, 1 earn others\n/);
  expect(changed.stdout).toMatch(
    new RegExp(`\\n  train/\\d+ of nim@1 \\(grpo, step 1, episode_key ${key}\\): .* 0\\.5 .*> `),
  );
});
