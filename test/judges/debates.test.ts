import { expect, test } from "@jest/globals";
import { debate } from "@mrlm/environment-debate";
import { grpo } from "@mrlm/grpo";
import judgeLlm from "@mrlm/judge-llm";
import { definePlugin } from "@mrlm/kit";
import { judgementsOf } from "@mrlm/kit/learning";
import { keptEpisodes } from "@mrlm/runtime";
import { startChatServer, trainBigram } from "@mrlm/testing";
import { verdictByLength } from "./support/verdict-by-length.ts";

const ALPHABET = `${Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("")}\n`;

/** Trains a bigram model for one step as `pro` and `con`, judged by a model behind an endpoint. */
async function debates(reply: Parameters<typeof startChatServer>[0]) {
  const server = await startChatServer(reply);
  const parsed = await judgeLlm.options?.["~standard"].validate({
    endpoint: { base_url: server.baseUrl, model: "judge", max_retries: 0 },
  });
  if (parsed === undefined || parsed.issues !== undefined) throw new Error("the options are refused");
  const make = judgeLlm.judges?.["llm@2"];
  const judge = definePlugin({
    name: "judge",
    judges: { "llm@2": (context) => make?.(context, parsed.value) as never },
  });
  try {
    const outcome = await trainBigram({
      algorithms: [grpo],
      environments: [debate as never],
      plugins: [judge as never],
      stages: [{ algorithm: "grpo", steps: 1, prompts_per_step: 2, group_size: 2 }],
      config: {
        model: { random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: ALPHABET } } } },
        environments: [{ id: "debate", options: { turns: 2, judge: "llm@2" } }],
        eval: { tasks: 0, may_fail: true },
      },
    });
    const kept = await keptEpisodes(outcome.summary.directory, { order: "newest", limit: 8 });
    return { ...outcome, requests: server.requests.length, rows: kept.map(({ row }) => row) };
  } finally {
    await server.close();
  }
}

test("debates of one policy are judged by a model: each has its reward, and its judgement is in the store", async () => {
  const { rows, played, requests } = await debates(({ body }) =>
    verdictByLength(body.messages.map(({ content }) => content).join("\n")),
  );
  expect(rows).toHaveLength(8);
  for (const { role, reward, judgements } of rows) {
    expect(judgements).toMatchObject([{ judge: "llm@2", step: 3, verdict: expect.stringMatching(/^(pro|con)$/) }]);
    expect(reward).toBe(judgements?.[0]?.verdict === role ? 1 : -1);
  }
  expect(requests).toBe(8);
  const trajectories = played.flat().flatMap((group) => group.trajectories);
  expect(trajectories.map((trajectory) => judgementsOf(trajectory).length)).toEqual([1, 1, 1, 1]);
});

test("a judge that returns HTML gives unscored debates, which are counted and never 0", async () => {
  const { rows, reports } = await debates(() => (response) => response.end("<html>Sign in</html>"));
  expect(rows).toHaveLength(8);
  for (const { reward, unscored, judgements } of rows) {
    expect([reward, unscored?.code]).toEqual([null, expect.stringMatching(/^ENDPOINT_/)]);
    expect(judgements).toMatchObject([{ verdict: "undecided", reward: null }]);
  }
  expect(reports[0]?.metrics).toMatchObject({ "episodes/unscored": expect.anything() });
});
