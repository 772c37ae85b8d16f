import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { BigramEngine, engineOverGrpc } from "@mrlm/testing";
import type { Sampler } from "@mrlm/spec/host";
import { served, type Served, testRenderer } from "./support/served.ts";

const CHAT = "/v1/chat/completions";
const messages = [{ role: "user", content: "Hello" }];
const endless = { model: "bigram", messages, max_tokens: 3_000, ignore_eos: true, stream: true };

/** Requests of all routes that stream, whose answers are long. */
const STREAMS: readonly (readonly [path: string, body: (n: number) => object])[] = [
  [CHAT, (n) => ({ ...endless, n })],
  [
    "/v1/responses",
    () => ({ model: "bigram", input: "Hello", max_output_tokens: 3_000, ignore_eos: true, stream: true }),
  ],
  ["/v1/messages", () => endless],
];

/** Serves a bigram model over gRPC. Counts the sequences that its engine samples. */
async function servedOverGrpc(): Promise<Served & { readonly sampling: () => number; readonly engine: BigramEngine }> {
  const engine = new BigramEngine({ deterministic: false });
  let sampling = 0;
  const samplerOf = engine.sampler.bind(engine);
  engine.sampler = async (model) => {
    const sampler = await samplerOf(model);
    const sample: Sampler["sample"] = async (...given) => {
      sampling++;
      return sampler.sample(...given).finally(() => sampling--);
    };
    return { sample, barrier: () => sampler.barrier(), close: () => sampler.close() };
  };
  const remote = await engineOverGrpc(engine);
  const renderer = testRenderer();
  const config = {
    vocab_size: renderer.vocabSize,
    max_position_embeddings: 4_096,
    eos_token_id: 1,
    initializer_range: 1,
  };
  const source = { kind: "random" as const, config, seed: 1, tokenizerFiles: {} };
  await remote.createModel({ model: "policy", role: "policy", trainable: true, source });
  const server = await served({
    policies: [{ id: "bigram", engine: remote, model: "policy", renderer }],
    maxRunning: 48,
  });
  return {
    ...server,
    engine,
    sampling: () => sampling,
    async close() {
      await server.close();
      await remote.close();
    },
  };
}

/** Number of open sockets and timers of this process. */
function resources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { TCPSocketWrap: 0, Timeout: 0 };
  for (const name of process.getActiveResourcesInfo()) if (name in counts) counts[name] = (counts[name] as number) + 1;
  return counts;
}

test("1,000 times one of 64 clients disconnects in mid-stream: no sequence, socket or timer is left", async () => {
  const server = await servedOverGrpc();
  const random = randomStream("disconnects", 1);
  await server.post(CHAT, { ...endless, stream: false, max_tokens: 1 });
  await sleep(6_000);
  const before = resources();
  let left = 1_000;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const [path, bodyOf] = STREAMS[random.integer(0, 2)] as (typeof STREAMS)[number];
      const sent = httpRequest(server.url + path, { method: "POST", agent: false });
      sent.on("error", () => undefined).end(JSON.stringify(bodyOf(random.integer(1, 3))));
      const kind = random.integer(0, 9);
      // Some leave before the request has arrived, or before the response, some after its head, most after some events.
      if (kind === 0) await sleep(random.integer(0, 5));
      else {
        const answered = await Promise.race([once(sent, "response"), once(sent, "close").then(() => undefined)]);
        const response = answered?.[0] as NodeJS.ReadableStream | undefined;
        if (kind > 1 && response !== undefined)
          for (let i = random.integer(1, 5); i > 0; i--)
            await Promise.race([once(response, "data"), once(response, "close")]);
      }
      sent.destroy();
    }
  };
  await Promise.all(Array.from({ length: 64 }, client));
  for (let i = 0; i < 500 && (server.server.metrics().running_sequences > 0 || server.sampling() > 0); i++)
    await sleep(20);
  expect(server.server.metrics()).toMatchObject({ running_sequences: 0, queued_sequences: 0, failures: 0 });
  expect(server.server.metrics().disconnects).toBeGreaterThanOrEqual(850);
  expect(server.sampling()).toBe(0);
  await sleep(6_000);
  // Timers of this test's own clients may have ended too.
  for (const [name, count] of Object.entries(resources()))
    expect([name, count]).toEqual([name, Math.min(count, before[name] ?? 0)]);
  expect((await server.post(CHAT, { ...endless, stream: false, max_tokens: 5 })).status).toBe(200);
  await server.close();
}, 600_000);

test("2,000 damaged bodies: each has an answer in the form of its API, and the server continues", async () => {
  const server = await served();
  const random = randomStream("bodies", 2);
  const more = { stream: false, tools: [], seed: 1 };
  const bodies = [
    { ...endless, ...more, max_tokens: 2, stop: ["x"] },
    {
      model: "bigram",
      input: [{ role: "user", content: "Hello" }],
      ...more,
      max_output_tokens: 2,
      text: { format: { type: "text" } },
    },
    { model: "bigram", messages, ...more, max_tokens: 2, stop_sequences: ["x"], system: [] },
  ];
  for (const [i, body] of bodies.entries()) expect((await server.post(STREAMS[i]?.[0] ?? "", body)).status).toBe(200);
  const statuses = new Map<number, number>();
  for (let i = 0; i < 2_000; i++) {
    const path = STREAMS[i % 3]?.[0] ?? CHAT;
    const valid = JSON.stringify(bodies[i % 3]);
    const at = random.integer(0, valid.length - 1);
    const kind = random.integer(0, 3);
    const body =
      kind === 0
        ? valid.slice(0, at)
        : kind === 1
          ? valid.slice(0, at) + random.pick(["", "null", "{", "]", '"', "1e999", "\u0000", "-1"]) + valid.slice(at + 1)
          : kind === 2
            ? valid.replace(
                random.pick(["2", "true", '"bigram"', "[]", "1", '"Hello"']),
                random.pick(["null", "[]", "{}", '"\u{1F600}"', "-1", "1e18", "0.5", "[[]]"]),
              )
            : valid.replaceAll(
                random.pick(["model", "messages", "input", "content", "stop", "tools", "seed"]),
                random.pick(["n", "prompt", "logit_bias", "__proto__", "constructor"]),
              );
    const answer = await server.post(path, body);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status >= 500) throw new Error(`${JSON.stringify(answer.body)} of ${body}`);
    if (answer.status === 200) continue;
    const error = { message: expect.any(String), code: expect.any(String) };
    const type = answer.status === 404 ? "not_found_error" : "invalid_request_error";
    expect(answer.body).toEqual(
      path === "/v1/messages"
        ? { type: "error", error: { ...error, type } }
        : { error: { ...error, type: "invalid_request_error", param: answer.body.error.param } },
    );
  }
  expect([...statuses.keys()].filter((status) => ![200, 400, 404].includes(status))).toEqual([]);
  expect(server.server.metrics()).toMatchObject({ requests: 2_003, running_sequences: 0 });
  await server.close();
}, 600_000);

test("50 prompts of 5 MB and 100 unknown models are refused, while other requests are answered", async () => {
  const server = await served({ maxRequestBytes: 8 << 20 });
  const large = "x ".repeat(2_500_000);
  for (let i = 0; i < 50; i++) {
    const [refused, fine] = await Promise.all([
      server.post(CHAT, { ...endless, messages: [{ role: "user", content: large }] }),
      server.post(CHAT, { ...endless, stream: false, max_tokens: 3 }),
    ]);
    expect([refused.status, refused.body.error.code, fine.status]).toEqual([400, "context_length_exceeded", 200]);
  }
  for (let i = 0; i < 100; i++) expect((await server.post(CHAT, { ...endless, model: `model-${i}` })).status).toBe(404);
  await server.close();
}, 600_000);

test("100 publications in mid-sequence: each answer states the version of each of its tokens", async () => {
  const server = await servedOverGrpc();
  const done = new AbortController();
  const publishing = (async () => {
    for (let i = 0; i < 100; i++) {
      await server.engine.publish("policy");
      await sleep(10);
    }
    done.abort();
  })();
  let changes = 0;
  let last = 0;
  while (!done.signal.aborted) {
    const { body } = await server.post(CHAT, { ...endless, stream: false, max_tokens: 100, return_token_ids: true });
    const spans = body.choices[0].weight_versions as { version: number; start: number; end: number }[];
    expect([spans[0]?.start, spans.at(-1)?.end]).toEqual([0, 100]);
    spans.forEach((span, i) => {
      const before = spans[i - 1];
      if (before !== undefined) expect([span.start, span.version > before.version]).toEqual([before.end, true]);
    });
    expect(spans[0]?.version).toBeGreaterThanOrEqual(last);
    last = spans.at(-1)?.version ?? 0;
    expect(body.system_fingerprint).toBe(`weights-${last}`);
    changes += spans.length - 1;
  }
  await publishing;
  expect(changes).toBeGreaterThan(10);
  await server.close();
}, 600_000);
