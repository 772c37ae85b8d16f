import { existsSync, readFileSync } from "node:fs";
import { Session as Inspector } from "node:inspector/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { connectEngine } from "@mrlm/client";
import toolsPlugin from "@mrlm/environment-tools";
import { grpo } from "@mrlm/grpo";
import { generatedTasks, singleTurn } from "@mrlm/kit";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { silentLogger } from "@mrlm/kit/service";
import { LocalHost, PluginHost, RolloutRunner } from "@mrlm/runtime";
import scorerPlugin from "@mrlm/scorer-math";
import { serveEngine } from "@mrlm/server";
import type { Engine } from "@mrlm/spec/host";
import { BigramEngine, trainBigram } from "@mrlm/testing";
import calculatorPlugin from "@mrlm/tool-calculator";

// Files whose functions run in a flow are those of a list in docs/architecture.md, or stand beside the flow for one of the
// reasons below. Each file more is one that a reader of the flow has to open: a change that adds one states why.

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/architecture.md"), "utf8");

/** Files of the calculator that run in its child process, and those of the engine in Python: their runs are not measured. */
const ELSEWHERE = /\.py$|^plugins\/tool-calculator\/src\/(?:worker|evaluator|math\/evaluate)\.ts$/;

/** Files beside both flows, by the reason. */
const BESIDE = {
  "general code for bytes, JSON, rows, names, hashes and errors": [
    "core/kit/src/hash.ts",
    "core/kit/src/messages.ts",
    "core/runtime/src/names/own-member.ts",
    "core/spec/src/defined.ts",
    "core/spec/src/errors/mrlm-error.ts",
    "core/spec/src/id.ts",
    "core/spec/src/json.ts",
    "core/spec/src/reward.ts",
    "core/store/src/database.ts",
    "core/store/src/json.ts",
    "core/store/src/open-database.ts",
    "core/store/src/runs.ts",
    "core/store/src/sqlite-connection.ts",
    "core/store/src/transaction.ts",
    "core/wire/src/bytes.ts",
    "core/wire/src/grpc/method.ts",
    "core/wire/src/grpc/serialise.ts",
    "core/wire/src/grpc/status.ts",
    "core/wire/src/integers.ts",
  ],
  "connection of the engine": [
    "core/client/src/connection/aborts.ts",
    "core/client/src/connection/backoff.ts",
    "core/client/src/connection/channel.ts",
    "core/client/src/connection/connection.ts",
    "core/client/src/engine/engine-connection.ts",
  ],
  "server of an engine in TypeScript, which stands for the one in Python": [
    "core/server/src/engine/micro-batches.ts",
    "core/server/src/engine/pass-streams.ts",
    "core/server/src/engine/sample-stream.ts",
    "core/server/src/engine/serve-engine.ts",
    "core/server/src/numbered-calls.ts",
    "core/testing/src/bigram/engine.ts",
    "core/testing/src/bigram/model.ts",
    "core/testing/src/bigram/parameters.ts",
    "core/testing/src/bigram/passes.ts",
    "core/testing/src/bigram/sampler.ts",
  ],
  "clocks, watches and metrics": [
    "algorithms/grpo/src/loss-metrics.ts",
    "core/kit/src/learning/answer-metrics.ts",
    "core/kit/src/learning/copied-answer.ts",
    "core/kit/src/learning/mismatch-metrics.ts",
    "core/kit/src/spans.ts",
    "core/runtime/src/diagnosis/run-record.ts",
    "core/runtime/src/host/countdown.ts",
    "core/runtime/src/host/phase-beacon.ts",
    "core/runtime/src/models/memory-watch.ts",
    "core/runtime/src/play/play-clock.ts",
    "core/runtime/src/rollouts/play-tally.ts",
    "core/runtime/src/rollouts/replay-watch.ts",
    "core/runtime/src/rollouts/reward-watch.ts",
    "core/runtime/src/rollouts/slow-calls.ts",
    "core/runtime/src/train/start-run.ts",
    "core/server/src/sessions/session-table.ts", // its sweep of expired sessions, each second
  ],
  "what a result has beside the reward and the messages": [
    "core/kit/src/learning/program-calls.ts",
    "core/runtime/src/host/session-judgements.ts",
    "core/runtime/src/host/session-tools.ts",
  ],
};
const BESIDE_REWARD = {
  ...BESIDE,
  "the environment of this test": ["core/kit/src/single-turn.ts"],
  "sampling and sessions that end": [
    "core/client/src/engine/remote-sampler.ts",
    "core/runtime/src/host/local-host.ts",
    "core/runtime/src/rollouts/scripted-agents.ts",
    "core/runtime/src/rollouts/turn-gate.ts",
  ],
  "choice of the next tasks": [
    "core/kit/src/learning/epoch-order.ts",
    "core/kit/src/learning/weighted-round-robin.ts",
    "core/runtime/src/play/task-order.ts",
  ],
  "options of a step": [
    "algorithms/grpo/src/options.ts",
    "algorithms/grpo/src/role-averages.ts",
    "core/kit/src/learning/optimizer-options.ts",
  ],
};
const BESIDE_TOOL_CALL = {
  ...BESIDE,
  "styles, markers and checks of a chat template": [
    "core/kit/src/renderer/chat-template.ts",
    "core/kit/src/renderer/check-tools.ts",
    "core/kit/src/renderer/formats/format.ts",
    "core/kit/src/renderer/marker-pattern.ts",
    "core/kit/src/renderer/merged-messages.ts",
    "core/kit/src/renderer/spelled-markers.ts",
    "core/kit/src/renderer/thinking.ts",
  ],
  "rewards and rules of tools@2": [
    "environments/tools/src/open-tools.ts",
    "environments/tools/src/required-tools.ts",
    "environments/tools/src/rewards.ts",
  ],
  "who plays, and limits": [
    "core/runtime/src/rollouts/episode-plan.ts",
    "core/runtime/src/rollouts/past-versions.ts",
    "core/runtime/src/rollouts/rollout-runner.ts",
    "plugins/tool-calculator/src/messages.ts",
  ],
};

/** Returns the stated number of files and the list below a heading. */
function listBelow(heading: string): { readonly count: number; readonly files: readonly string[] } {
  const [, count, text = ""] =
    new RegExp(`^#+ ${heading}\n+\\*\\*(\\d+) files\\*\\*([^]*?)(?=^#)`, "m").exec(page) ?? [];
  return { count: Number(count), files: Array.from(text.matchAll(/^\d+\. `([^`]+)`/gm), ([, file]) => file as string) };
}

/** Records which files run from one moment to another. */
class Recorder {
  readonly #inspector = new Inspector();

  async start(): Promise<void> {
    this.#inspector.connect();
    await this.#inspector.post("Profiler.enable");
    await this.#inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /** Returns the files whose functions have run since the last call. Code that runs when a file is loaded does not count. */
  async take(): Promise<string[]> {
    const { result } = await this.#inspector.post("Profiler.takePreciseCoverage");
    return result.flatMap(({ url, functions }) => {
      const file = /\/((?:core|algorithms|environments|plugins)\/[^/]+\/src\/(?!gen\/).*)$/.exec(url)?.[1];
      const hasRun = functions.some(({ ranges: [range] }) => (range?.count ?? 0) > 0 && range?.startOffset !== 0);
      return file !== undefined && hasRun ? [file] : [];
    });
  }

  stop(): void {
    this.#inspector.disconnect();
  }
}

/** Returns the files that run between the last reward of a group and the optimizer step. */
async function filesToGradient(): Promise<string[]> {
  const server = await serveEngine({ engine: new BigramEngine(), address: "127.0.0.1:0" });
  const remote = await connectEngine(`127.0.0.1:${server.port}`);
  const recorder = new Recorder();
  await recorder.start();
  let rewards = 0;
  const environment = singleTurn({
    id: "letters@1",
    description: "Asks for letters.",
    tasks: () =>
      generatedTasks({
        seed: 1,
        splits: { train: { size: 4, share: 1 } },
        generate: (random) => ({ public: {}, private: {}, key: String(random.integer(0, 9999)) }),
      }),
    prompt: () => "ab",
    async score() {
      if (++rewards === 2) await recorder.take();
      return rewards % 2;
    },
  });
  let files: string[] = [];
  const optimStep: Engine["optimStep"] = async (options) => {
    files = await recorder.take();
    return await remote.optimStep(options);
  };
  const engine = new Proxy<Engine>(remote, {
    get: (target, name) => (name === "optimStep" ? optimStep : Reflect.get(target, name)?.bind(target)),
  });
  try {
    await trainBigram({
      algorithms: [grpo],
      environments: [environment],
      engine,
      stages: [{ algorithm: "grpo", steps: 1, prompts_per_step: 1, group_size: 2, learning_rate: 0.1 }],
      config: { checkpoint: { every: 0 } },
    });
    return files;
  } finally {
    recorder.stop();
    await remote.close();
    await server.close();
  }
}

const TEMPLATE =
  "{% if tools %}{{ '<|system|>' + (tools | tojson) + '<|end|>' }}{% endif %}{% for message in messages %}{{ '<|' + message.role + '|>' + (message.content or '') }}" +
  `{% for call in message.tool_calls or [] %}{{ '<tool_call>{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}</tool_call>' }}{% endfor %}` +
  "{{ '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

/** Returns the files that run from the tokens of the second of two tool calls to the next request of tokens. */
async function filesOfToolCall(): Promise<string[]> {
  const tokenizerFiles = {
    ...characterTokenizerFiles({ tags: ["<tool_call>", "</tool_call>"] }),
    "chat_template.jinja": new TextEncoder().encode(TEMPLATE),
  };
  const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [] });
  const inner = new BigramEngine();
  await inner.createModel({
    model: "policy",
    role: "policy",
    trainable: true,
    source: {
      kind: "random",
      seed: 1,
      tokenizerFiles,
      config: {
        vocab_size: renderer.vocabSize,
        eos_token_id: renderer.stopTokenIds[0],
        max_position_embeddings: 4096,
      },
    },
  });
  await inner.publish("policy");
  const recorder = new Recorder();
  await recorder.start();
  const taken: string[][] = [];
  const answers = ["1+2", "2+2"].map(
    (sum) => `<tool_call>{"name": "calculator", "arguments": {"expression": "${sum}"}}</tool_call>`,
  );
  const sample = async () => {
    taken.push(await recorder.take());
    const tokens = renderer.tokenizer.encode(`${answers[taken.length - 1] ?? "4"}<|end|>`);
    const logprobs = new Float32Array(tokens.length).fill(-1);
    return { tokens, logprobs, versions: new Int32Array(tokens.length), stopReason: "stop" as const };
  };
  const sampler = async () => ({ sample, barrier: async () => undefined, close: async () => undefined });
  const engine = new Proxy(inner, {
    get: (target, name) => (name === "sampler" ? sampler : Reflect.get(target, name)?.bind(target)),
  });
  const server = await serveEngine({ engine, address: "127.0.0.1:0" });
  const remote = await connectEngine(`127.0.0.1:${server.port}`);
  const host = new LocalHost({ source: await PluginHost.of([toolsPlugin, calculatorPlugin, scorerPlugin]) });
  try {
    const runner = new RolloutRunner({
      host,
      engine: remote,
      runSeed: 0,
      isDeterministic: true,
      concurrency: 4,
      maxWaitMs: 5_000,
      logger: silentLogger,
      renderer: () => renderer,
      tokenLimit: () => 4096,
      turnLimit: () => 0,
    });
    const options = { families: ["calculation"], toolsets: ["calculator@1"], answer_schema: "text" };
    const groups = runner.collect({
      environment: { id: "tools", options },
      tasks: ["train/0"],
      groupSize: 1,
      players: "policy",
      sampling: { temperature: 1, maxTokens: 400 },
      label: "test",
    });
    for await (const { trajectories } of groups) expect(trajectories[0]?.turns.length).toBe(3);
    return taken[2] ?? [];
  } finally {
    recorder.stop();
    await host.close();
    await remote.close();
    await server.close();
  }
}

describe.each([
  ["From a reward to a gradient", filesToGradient, BESIDE_REWARD],
  ["A tool call", filesOfToolCall, BESIDE_TOOL_CALL],
])("the list below %s", (heading, measure, beside: Record<string, readonly string[]>) => {
  const { count, files } = listBelow(heading);

  test("has the stated number of files, which exist", () => {
    expect(files.length).toBe(count);
    expect(new Set(files).size).toBe(count);
    const all = [...files, ...Object.values(beside).flat()];
    expect(all.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test("has the files that run, apart from those beside the flow", async () => {
    const run = await measure();
    expect(files.filter((file) => !ELSEWHERE.test(file) && !run.includes(file))).toEqual([]);
    const known = new Set([...files, ...Object.values(beside).flat()]);
    expect(run.filter((file) => !known.has(file)).toSorted()).toEqual([]);
  });
});
