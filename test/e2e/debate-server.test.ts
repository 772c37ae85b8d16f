import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { debate } from "@mrlm/environment-debate";
import judgeLlm from "@mrlm/judge-llm";
import judgeRules from "@mrlm/judge-rules";
import { definePlugin } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { endpointOptions } from "../../plugins/policy-openai/src/options.ts";
import { EndpointSource } from "../../plugins/policy-openai/src/endpoint-source.ts";
import { servePolicies } from "@mrlm/policy-server";
import { LocalHost, outsidePlayer, PluginHost, RolloutRunner, summariseEpisodes } from "@mrlm/runtime";
import type { Trajectory } from "@mrlm/spec";
import type { EnvironmentHost, Player } from "@mrlm/spec/host";
import { BigramEngine, inProcess, overGrpc, startChatServer } from "@mrlm/testing";

type PolicyServer = Awaited<ReturnType<typeof servePolicies>>;

const EPISODES = 2;
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("");

let server: PolicyServer;
let url: string;
beforeAll(async () => {
  // The texts of a random model hold the replacement character, where it draws a token that is no text.
  const tokenizerFiles = characterTokenizerFiles({ alphabet: `${ASCII}\n\ufffdãéü–—’“”…` });
  const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [1] });
  const engine = new BigramEngine({ deterministic: false });
  const config = {
    vocab_size: renderer.vocabSize,
    max_position_embeddings: 8192,
    initializer_range: 1,
    eos_token_id: 1,
  };
  const source = { kind: "random" as const, config, seed: 1, tokenizerFiles: {} };
  await engine.createModel({ model: "policy", role: "policy", trainable: false, source });
  server = await servePolicies({
    policies: [{ id: "random", engine, model: "policy", renderer }],
    address: "127.0.0.1:0",
  });
  url = `http://127.0.0.1:${server.port}/v1`;
});
afterAll(() => server.close());

/** Plays debates whose two sides are the served model, over a transport of environments. */
async function debates(
  transport: (host: EnvironmentHost) => Promise<EnvironmentHost>,
  judge: { readonly base_url: string; readonly model: string },
): Promise<Trajectory[]> {
  const source = await PluginHost.of([definePlugin({ name: "debate", environments: [debate] }), judgeLlm, judgeRules], {
    plugins: { "@mrlm/judge-llm": { endpoint: { ...judge, max_retries: 0, json: "text" }, max_tokens: 32 } },
  });
  const host = await transport(new LocalHost({ source }));
  const endpoint = new EndpointSource();
  const options = endpointOptions.parse({ base_url: url, model: "random", on_empty: "answer" });
  // Both sides are measured: they are recorded as policies.
  const side: Player = { ...outsidePlayer("openai@1", endpoint as never, options), recordedAs: "policy" };
  const runner = new RolloutRunner({
    host,
    engine: { sampler: () => Promise.reject(new Error("no engine plays")) },
    runSeed: 1,
    isDeterministic: true,
    concurrency: EPISODES,
    maxWaitMs: 1000,
    logger: silentLogger,
    renderer: () => {
      throw new Error("no model of an engine plays");
    },
    tokenLimit: () => 8192,
    turnLimit: () => 0,
  });
  const request = {
    environment: { id: "debate@1", options: { turns: 2, judge: "llm@2" } },
    tasks: Array.from({ length: EPISODES }, (_, i) => `train/${i}` as const),
    groupSize: 1,
    players: { pro: side, con: side },
    sampling: { temperature: 1, maxTokens: 24 },
    label: "debates",
  };
  try {
    return (await Array.fromAsync(runner.collect(request))).flatMap(({ trajectories }) => trajectories);
  } finally {
    await endpoint.close();
    await host.close();
    await source.close();
  }
}

const transports = [
  ["in this process", inProcess],
  ["over gRPC", overGrpc()],
] as const;

describe.each(transports)(
  "a random model plays both sides of debate@1 from the policy server, %s",
  (_where, transport) => {
    test("judged by itself, every episode is unscored and counted", async () => {
      const episodes = await debates(transport, { base_url: url, model: "random" });
      expect(episodes.map(({ error }) => error)).toEqual(episodes.map(() => undefined));
      expect(episodes.map(({ turns }) => turns.length)).toEqual(episodes.map(() => 4));
      const codes = episodes.flatMap(({ agents }) =>
        Object.values(agents).map(({ total }) => (total.scored ? "scored" : total.code)),
      );
      expect(codes).toHaveLength(2 * EPISODES);
      for (const code of codes) expect(code).toBe("JUDGE_UNREADABLE");
      expect(summariseEpisodes(episodes)).toMatchObject({
        episodes: EPISODES,
        failed: 0,
        scored: 0,
        unscored: 2 * EPISODES,
      });
    });

    test("judged by a scripted endpoint, every episode has its documented reward", async () => {
      const scripted = await startChatServer(({ body }) => {
        const { A, B } = participants(body.messages.map(({ content }) => content).join("\n"));
        const scores = { A: A === "pro" ? 7 : 3, B: B === "pro" ? 7 : 3 };
        return JSON.stringify({ reasons: "Scripted.", scores, winner: A === "pro" ? "A" : "B" });
      });
      try {
        const episodes = await debates(transport, { base_url: scripted.baseUrl, model: "scripted" });
        const rewards = episodes.map(({ agents }) =>
          ["pro", "con"].map((agent) =>
            agents[agent]?.total.scored === true ? agents[agent].total.value : "unscored",
          ),
        );
        expect(rewards).toEqual(episodes.map(() => [1, -1]));
        expect(scripted.requests).toHaveLength(2 * EPISODES);
      } finally {
        await scripted.close();
      }
    });
  },
);

/** Returns who the judge is shown as A and as B. */
function participants(data: string): { readonly A?: string; readonly B?: string } {
  const line = data.split("\n").find((each) => each.startsWith('{"participants"')) ?? '{"participants":{}}';
  return (JSON.parse(line) as { readonly participants: { readonly A?: string; readonly B?: string } }).participants;
}
