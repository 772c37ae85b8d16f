/**
 * npm run bench -- policy [--json] [--rounds N]: `mrlm serve --model` against `transformers serve` with the same checkpoint, and against the engine's own stream without HTTP. Every answer has
 * 128 tokens. The servers are measured alternately, and each figure is the median over the rounds; that of `transformers serve` is the better one of those with and without continuous batching.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { locateEngine } from "@mrlm/engine-torch";
import type { Sampler } from "@mrlm/spec/host";
import { load, type Load, TOKENS } from "./requests.ts";
import { makeModel, peerPython, type Running, serveOurs, serveTransformers, startEngine } from "./servers.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "2" },
    only: { type: "string" },
  },
});

const CONCURRENCY = [1, 8, 64] as const;
/** Answers of one measurement. `transformers serve` takes seconds for each. */
const COUNTS: Readonly<Record<"ours" | "peer", Readonly<Record<number, number>>>> = {
  ours: { 1: 10, 8: 64, 64: 256 },
  peer: { 1: 3, 8: 16, 64: 64 },
};

/** Samples without HTTP, from as many clients as the measurements over HTTP. */
async function engineLoad(sampler: Sampler, concurrency: number, count: number): Promise<number> {
  const started = performance.now();
  let sent = 0;
  let tokens = 0;
  const client = async (): Promise<void> => {
    while (sent < count) {
      const number = sent++;
      const prompt = Int32Array.from({ length: 12 }, (_, i) => 3 + ((number * 7 + i * 5) % 40));
      const params = { temperature: 1, maxTokens: TOKENS, stopTokenIds: [] };
      const sampled = await sampler.sample({ prompt, params, key: BigInt(number) });
      tokens += sampled.tokens.length;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  return (1_000 * tokens) / (performance.now() - started);
}

const median = (numbers: readonly number[]): number =>
  quantile(
    numbers.toSorted((a, b) => a - b),
    0.5,
  );
const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;

const installation = await locateEngine();
if (installation === undefined) throw new Error("The engine is not set up: npm run setup.");
const python = peerPython(installation.executable);
const model = makeModel(python);
const isPeerWanted = values.only !== "ours";
const running: Running[] = [];
const rates = new Map<string, number[]>();
const firstTokens: { readonly one: number[]; readonly many: number[] } = { one: [], many: [] };
const record = (name: string, rate: number): void => void rates.set(name, [...(rates.get(name) ?? []), rate]);
const direct = await startEngine(model);
try {
  const start = async (server: Promise<Running>): Promise<Running> => {
    const started = await server;
    running.push(started);
    return started;
  };
  const ours = await start(serveOurs(model));
  const peers: Readonly<Record<string, Running>> = isPeerWanted
    ? {
        plain: await start(serveTransformers(python, model, false)),
        continuous: await start(serveTransformers(python, model, true)),
      }
    : {};
  const servers: Readonly<Record<string, Running>> = { ours, ...peers };
  const sampler = await direct.engine.sampler("policy");
  /** Measures one server while the others are paused. */
  const measure = async (name: string, concurrency: number, stream = false): Promise<Load> => {
    const { endpoint, resume, pause } = servers[name] as Running;
    resume();
    try {
      const count = COUNTS[name === "ours" ? "ours" : "peer"][concurrency] as number;
      return await load(endpoint, { concurrency, stream, count });
    } finally {
      pause();
    }
  };
  for (const name of Object.keys(servers)) await measure(name, 8);
  // Continuous batching of transformers prepares each size of a batch once, which takes many seconds.
  if (isPeerWanted) await measure("continuous", 64);
  for (const stream of [false, true]) await measure("ours", 64, stream);
  await engineLoad(sampler, 64, 256);
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const concurrency of CONCURRENCY)
      for (const name of Object.keys(servers))
        record(`${name}_${concurrency}`, (await measure(name, concurrency)).tokensPerSecond);
    // The ratios to the engine are the closest ones, so that each measurement has its neighbour.
    for (let i = 0; i < 3; i++) {
      record("engine_64", await engineLoad(sampler, 64, 256));
      record("ours_64", (await measure("ours", 64)).tokensPerSecond);
      const streamed = await measure("ours", 64, true);
      record("streamed_64", streamed.tokensPerSecond);
      firstTokens.many.push(...streamed.firstTokenMs);
    }
    const alone = await load(ours.endpoint, { concurrency: 1, count: 20, stream: true });
    firstTokens.one.push(...alone.firstTokenMs);
  }
  await sampler.close();
} finally {
  await Promise.all([direct.stop(), ...running.map(({ stop }) => stop())]);
}

const rate = (name: string): number => Number(median(rates.get(name) ?? [Number.NaN]).toPrecision(4));
const best = (concurrency: number): number =>
  isPeerWanted ? Math.max(rate(`plain_${concurrency}`), rate(`continuous_${concurrency}`)) : Number.NaN;
const milliseconds = (times: readonly number[], q: number): number =>
  Number(
    quantile(
      times.toSorted((a, b) => a - b),
      q,
    ).toPrecision(3),
  );
const figures = {
  ...Object.fromEntries(CONCURRENCY.map((n) => [`tokens_per_s_${n}`, rate(`ours_${n}`)])),
  ...Object.fromEntries(CONCURRENCY.map((n) => [`transformers_tokens_per_s_${n}`, best(n)])),
  engine_tokens_per_s_64: rate("engine_64"),
  streamed_tokens_per_s_64: rate("streamed_64"),
  first_token_p50_ms_1: milliseconds(firstTokens.one, 0.5),
  first_token_p99_ms_64: milliseconds(firstTokens.many, 0.99),
};
if (!values.json) console.table(figures);
console.log(
  JSON.stringify({
    bench: "policy",
    machine: { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version, load: loadavg()[0] },
    figures,
    ratios: {
      ...Object.fromEntries(CONCURRENCY.map((n) => [`transformers_${n}`, ratio(rate(`ours_${n}`), best(n))])),
      engine_64: ratio(rate("ours_64"), rate("engine_64")),
      engine_streamed_64: ratio(rate("streamed_64"), rate("engine_64")),
    },
    rounds: Object.fromEntries(Array.from(rates, ([name, each]) => [name, each.map((x) => Number(x.toPrecision(4)))])),
  }),
);

function ratio(a: number, b: number): number {
  return Number((a / b).toPrecision(3));
}
