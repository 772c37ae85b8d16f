import { describe, expect, test } from "@jest/globals";
import { defined, observe, singleStep, textMessage } from "@mrlm/kit";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { type Message, type Renderer, score, type TokenSpan } from "@mrlm/spec";
import type { Engine, Sampler, SampleRequest, SampleResult } from "@mrlm/spec/host";
import { PromptCache } from "../src/rollouts/prompt-cache.ts";
import { Transcript } from "../src/rollouts/transcript.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { bigramEngine, collect, localHost, renderer, runner } from "./support/rollouts.ts";

/** Notes each request with its result, in order. */
async function recording(): Promise<{ engine: Engine; calls: { request: SampleRequest; result: SampleResult }[] }> {
  const inner = await bigramEngine();
  const calls: { request: SampleRequest; result: SampleResult }[] = [];
  const engine = new Proxy<Engine>(inner, {
    get: (target, property) =>
      property !== "sampler"
        ? Reflect.get(target, property).bind(target)
        : async (model: string): Promise<Sampler> => {
            const sampler = await target.sampler(model);
            return {
              sample: async (request) => {
                const result = await sampler.sample(request);
                calls.push({ request, result });
                return result;
              },
              barrier: () => sampler.barrier(),
              close: () => sampler.close(),
            };
          },
  });
  return { engine, calls };
}

const chat = counterEnvironment({
  create: () => {
    let turn = 0;
    return {
      reset: async () => ((turn = 0), observe([textMessage("user", "ab")])),
      step: async () =>
        singleStep({ messages: [textMessage("user", "cd")], reward: score(1), terminated: ++turn === 4 }),
    };
  },
});

describe("numerics 27: token in, token out", () => {
  test("what was sampled stands in the trajectory byte for byte, with its log-probabilities and versions", async () => {
    const { engine, calls } = await recording();
    await engine.publish("policy");
    const [group] = await collect(await runner({ engine, host: await localHost(chat) }), {
      tasks: ["train/0"],
      groupSize: 1,
    });
    const trajectory = group?.trajectories[0];
    expect(calls).toHaveLength(4);
    for (const [i, turn] of (trajectory?.turns ?? []).entries()) {
      const { segment: at, start, end } = turn.tokens as TokenSpan;
      const segment = trajectory?.agents["agent"]?.segments[at];
      const { request, result } = calls[i] as (typeof calls)[number];
      expect(segment?.tokens.slice(start, end)).toEqual(result.tokens);
      expect(segment?.logprobs.slice(start, end)).toEqual(result.logprobs);
      expect(new Set(segment?.versions.slice(start, end))).toEqual(new Set([2]));
      expect(segment?.tokens.slice(0, start)).toEqual(request.prompt);
      expect(turn.stopReason).toBe(result.stopReason);
    }
  });

  test("numerics 29: masks mark exactly what the policy chose; nothing else has a log-probability or a version", async () => {
    const [group] = await collect(await runner({ host: await localHost(chat) }), { tasks: ["train/0"], groupSize: 2 });
    for (const { agents, turns } of group?.trajectories ?? []) {
      const [segment] = agents["agent"]?.segments ?? [];
      const chosen = turns.reduce(
        (sum, { tokens }) => sum + (tokens as TokenSpan).end - (tokens as TokenSpan).start,
        0,
      );
      expect(segment?.mask.reduce((sum, bit) => sum + bit, 0)).toBe(chosen);
      segment?.mask.forEach((bit, i) => {
        if (bit === 0) expect([segment.logprobs[i], segment.versions[i]]).toEqual([0, -1]);
        else expect(segment.versions[i]).toBeGreaterThanOrEqual(0);
      });
    }
  });
});

/** Returns a renderer that omits all but the last message of the policy, like templates that remove old reasoning. */
function forgetful(): Renderer {
  const kept = (history: readonly Message[]): Message[] =>
    history.filter(({ role }, i) => role !== "assistant" || i === history.length - 1);
  return {
    ...renderer,
    extend: (_tokens, history, messages) => ({
      kind: "restart",
      tokens: renderer.render(kept([...history, ...messages])).tokens,
    }),
  };
}

describe("numerics 28: a template that is not prefix-preserving", () => {
  test("starts a new segment with its parent; each segment is what was sampled under it", async () => {
    const { engine, calls } = await recording();
    const [group] = await collect(await runner({ engine, renderer: forgetful, host: await localHost(chat) }), {
      tasks: ["train/0"],
      groupSize: 1,
    });
    const { segments } = group?.trajectories[0]?.agents["agent"] ?? { segments: [] };
    expect(segments.map(({ parent }) => parent)).toEqual([null, 0, 1, 2]);
    segments.forEach(({ tokens, mask }, i) => {
      const { request, result } = calls[i] as (typeof calls)[number];
      expect(tokens).toEqual(Int32Array.of(...request.prompt, ...result.tokens));
      expect(mask.indexOf(1)).toBe(request.prompt.length);
    });
  });

  test("a restart that rewrites nothing is no restart", async () => {
    const honest: Renderer = {
      ...renderer,
      extend: (tokens, history, messages, tools) => {
        const extension = renderer.extend(tokens, history, messages, tools);
        return { kind: "restart", tokens: Int32Array.of(...tokens, ...extension.tokens) };
      },
    };
    const [group] = await collect(await runner({ renderer: () => honest, host: await localHost(chat) }), {
      tasks: ["train/0"],
      groupSize: 1,
    });
    const [plain] = await collect(await runner({ host: await localHost(chat) }), { tasks: ["train/0"], groupSize: 1 });
    expect(group?.trajectories[0]?.agents).toEqual(plain?.trajectories[0]?.agents);
    expect(group?.trajectories[0]?.agents["agent"]?.segments).toHaveLength(1);
  });

  test("a renderer that makes impossible tokens fails the episode by name", async () => {
    const broken: Renderer = { ...renderer, render: () => ({ tokens: Int32Array.of(1, 10_000) }) };
    const [group] = await collect(await runner({ renderer: () => broken }), { tasks: ["train/0"], groupSize: 1 });
    expect(group?.trajectories[0]?.error).toMatchObject({
      code: "SEQUENCE_INVALID",
      message: expect.stringContaining("position 1"),
    });
  });
});

test("D13: 8 turns under a template that writes an empty think block into the last message only are one segment", async () => {
  const template =
    "{% for message in messages %}{{ '<|' + message.role + '|>' }}{% if loop.last and message.role == 'assistant' %}{{ '<think>\\n\\n</think>' }}{% endif %}" +
    "{{ message.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";
  const tokenizerFiles = {
    ...characterTokenizerFiles({ tags: ["<think>", "</think>"] }),
    "chat_template.jinja": new TextEncoder().encode(template),
  };
  const blocks = chatRenderer({ tokenizerFiles, eosTokenIds: [] });
  const transcript = new Transcript(blocks, new PromptCache(), new Set());
  for (let turn = 0; turn < 8; turn++) {
    transcript.observe({ agent: "agent", messages: [textMessage("user", `q${turn}`)] });
    const tokens = Int32Array.from([...blocks.tokenizer.encode(`a${turn}`), ...blocks.stopTokenIds]);
    transcript.choose({
      tokens,
      logprobs: new Float32Array(tokens.length),
      versions: new Int32Array(tokens.length),
      stopReason: "stop",
      truncatedSupport: false,
    });
  }
  const segments = transcript.segments();
  expect(segments).toHaveLength(1);
  expect(segments[0]?.mask.reduce((sum, bit) => sum + bit, 0)).toBe(8 * 3);
});

test("a string info.stateKey of an observation is the state of the turn that answers it; other values are none", async () => {
  const keys = ["start", 7, undefined, "end"] as const;
  const keyed = counterEnvironment({
    create: () => {
      let step = 0;
      const shown = () => ({
        agent: "agent",
        messages: [textMessage("user", "ab")],
        info: { other: "x", ...defined({ stateKey: keys[step] }) },
      });
      return {
        reset: async () => ((step = 0), shown()),
        step: async () => {
          const isOver = ++step === keys.length;
          return {
            observation: isOver ? { agent: "", messages: [] } : shown(),
            rewards: { agent: score(step) },
            terminated: { agent: isOver },
            truncated: {},
            info: { stateKey: "of the step" },
          };
        },
      };
    },
  });
  const { engine } = await recording();
  const host = await localHost(keyed);
  const [group] = await collect(await runner({ engine, host }), { tasks: ["train/0"], groupSize: 1 });
  const turns = group?.trajectories[0]?.turns ?? [];
  expect(turns.map(({ state }) => state)).toEqual(["start", undefined, undefined, "end"]);
  expect(turns.map((turn) => "state" in turn)).toEqual([true, false, false, true]);
});

describe("a conversation that starts over", () => {
  const starting = counterEnvironment({
    create: () => {
      let step = 0;
      const shown = () => ({
        agent: "agent",
        messages: [textMessage("user", `ab ${step}`)],
        ...(step === 2 ? { isFresh: true } : {}),
      });
      return {
        reset: async () => ((step = 0), shown()),
        step: async () => {
          step++;
          const isOver = step === 4;
          return {
            observation: isOver ? { agent: "", messages: [] } : shown(),
            rewards: { agent: score(step) },
            terminated: { agent: isOver },
            truncated: {},
          };
        },
      };
    },
  });

  test("is a new segment without a parent that begins with the new messages only, and later turns extend it", async () => {
    const { engine, calls } = await recording();
    const host = await localHost(starting);
    const [group] = await collect(await runner({ engine, host }), { tasks: ["train/0"], groupSize: 1 });
    const [trajectory] = group?.trajectories ?? [];
    const { segments = [] } = trajectory?.agents["agent"] ?? {};
    expect(segments.map(({ parent }) => parent)).toEqual([null, null]);
    expect(trajectory?.turns.map(({ tokens }) => tokens?.segment)).toEqual([0, 0, 1, 1]);
    expect(trajectory?.turns.map(({ isFresh }) => isFresh)).toEqual([undefined, undefined, true, undefined]);
    expect(calls[2]?.request.prompt).toEqual(renderer.render([textMessage("user", "ab 2")]).tokens);
    for (const [i, { tokens }] of (trajectory?.turns ?? []).entries()) {
      const { segment: at, start, end } = tokens as TokenSpan;
      const { request, result } = calls[i] as (typeof calls)[number];
      expect(segments[at]?.tokens.slice(0, start)).toEqual(request.prompt);
      expect(segments[at]?.tokens.slice(start, end)).toEqual(result.tokens);
      expect(segments[at]?.versions.slice(start, end)).toEqual(result.versions);
    }
  });

  test("a template that rewrites it afterwards gives the new segment its parent", async () => {
    const host = await localHost(starting);
    const [group] = await collect(await runner({ renderer: forgetful, host }), { tasks: ["train/0"], groupSize: 1 });
    const { segments = [] } = group?.trajectories[0]?.agents["agent"] ?? {};
    expect(segments.map(({ parent }) => parent)).toEqual([null, 0, null, 2]);
  });

  test("has the room of a whole context again", async () => {
    const played = await runner({ host: await localHost(starting), tokenLimit: () => 44 });
    const sampling = { temperature: 1, maxTokens: 8 };
    const [group] = await collect(played, { tasks: ["train/0"], groupSize: 1, sampling });
    expect(group?.trajectories[0]?.turns).toHaveLength(4);
  });
});

test("several agents: each has its own tokens, rewards and end, under its own model", async () => {
  const pair = counterEnvironment({
    roles: { a: {}, b: {} },
    create: () => {
      let turn = 0;
      const next = () => (turn % 2 === 0 ? "a" : "b");
      return {
        reset: async () => ((turn = 0), { agent: "a", messages: [textMessage("user", "ab")] }),
        step: async (action) => {
          turn++;
          const isOver = turn >= 4;
          return {
            observation: { agent: isOver ? "" : next(), messages: isOver ? [] : [textMessage("user", "cd")] },
            rewards: { [action.agent]: score(turn) },
            terminated: { a: turn >= 3, b: isOver },
            truncated: {},
          };
        },
      };
    },
  });
  const engine = await bigramEngine();
  await engine.createModel({
    model: "second",
    role: "policy",
    trainable: false,
    source: { kind: "copy", of: "policy" },
  });
  const models: string[] = [];
  const watching = new Proxy<Engine>(engine, {
    get: (target, property) =>
      property === "sampler"
        ? (model: string) => (models.push(model), target.sampler(model))
        : Reflect.get(target, property).bind(target),
  });
  const [group] = await collect(await runner({ engine: watching, host: await localHost(pair) }), {
    tasks: ["train/0"],
    groupSize: 2,
    players: { a: { kind: "policy", policy: "policy" }, b: { kind: "model", name: "second", model: "second" } },
  });
  const trajectory = group?.trajectories[0];
  expect(models.sort()).toEqual(["policy", "second"]);
  expect(trajectory?.turns.map(({ agent }) => agent)).toEqual(["a", "b", "a", "b"]);
  expect(trajectory?.agents["a"]).toMatchObject({ total: score(4), end: { terminated: true, truncated: false } });
  expect(trajectory?.agents["b"]).toMatchObject({ total: score(6), end: { terminated: true, truncated: false } });
  const missing = collect(await runner({ engine, host: await localHost(pair) }), {
    tasks: ["train/0"],
    groupSize: 1,
    players: { a: { kind: "policy", policy: "policy" } },
  });
  await expect(missing).rejects.toMatchObject({ code: "MODEL_NOT_FOUND", message: expect.stringContaining('"b"') });
});
