/**
 * npm run bench -- agents [--json] [--rounds N] [--seconds N]: calls a second of 64 programs at once with bodies of 4 KiB, in process and over a socket, against a bare echo of node:http by
 * the same client; milliseconds that a call adds to a step; memory of 256 programs at once.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { EnvironmentDefinition } from "@mrlm/spec";
import { loadedMachine, printFigures } from "../figures.ts";
import { median } from "../server/statistics.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
  },
});
const PROGRAMS = 64;
const CONCURRENT = 256;
/** Calls of a program in an episode. */
const CALLS = 20;
const BODY = "x".repeat(4_000);
const ANSWER = textMessage("assistant", "an answer");
const signal = new AbortController().signal;

const load = loadavg()[0] as number;
const figures: Record<string, number> = {};
const put = (name: string, value: number): void => void (figures[name] = Number(value.toPrecision(4)));

const tasks = () => ({
  splits: { train: 1, eval: 0 },
  get: async () => ({ id: "train/0", public: {}, private: {} }),
});
const common = { description: "Calls.", determinism: "full", tasks } as const;

/** Sends one body over a fetch. */
async function post(send: typeof fetch, baseURL: string, key: string, body: string): Promise<void> {
  const response = await send(`${baseURL}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  await response.text();
  if (response.status !== 200) throw new Error(`status ${response.status}`);
}

const bodyOf = (i: number): string =>
  JSON.stringify({ model: "agent", messages: [{ role: "user", content: `${i}${BODY}` }] });

const programs = (id: `${string}@${number}`, isSocket: boolean): EnvironmentDefinition =>
  agentEnvironment<unknown>({
    ...common,
    id,
    async run({ model }) {
      const baseURL = isSocket ? (await model.listen()).baseURL : model.baseURL;
      const send = isSocket ? fetch : model.fetch;
      for (let i = 0; i < CALLS; i++) await post(send, baseURL, model.apiKey, bodyOf(i));
    },
    score: () => 1,
  });
const native: EnvironmentDefinition = {
  ...common,
  id: "native@1",
  create() {
    let turn = 0;
    const shown = () => [textMessage("user", `${turn}${BODY}`)];
    return {
      async reset() {
        turn = 0;
        return observe(shown());
      },
      async step() {
        return ++turn < CALLS ? singleStep({ messages: shown() }) : singleStep({ terminated: true });
      },
    };
  },
};
const environments = [programs("direct@1", false), programs("socket@1", true), native];
const host = new LocalHost({ source: await PluginHost.of([definePlugin({ name: "bench", environments })]) });

/** Plays episodes until a time, or one. Returns the number of steps and the milliseconds of each. */
async function play(id: string, until = 0): Promise<number[]> {
  const session = await host.open({ id });
  const steps: number[] = [];
  do {
    let { agent } = await session.reset({ task: "train/0", seed: 1, signal });
    while (agent !== "") {
      const began = performance.now();
      ({ agent } = (await session.step({ agent, message: ANSWER, finishReason: "stop" }, { signal })).observation);
      steps.push(performance.now() - began);
    }
  } while (performance.now() < until);
  await session.close();
  return steps;
}

/** Returns the calls a second of programs at once. */
async function throughput(work: (until: number) => Promise<number>): Promise<number> {
  const began = performance.now();
  const until = began + Number(values.seconds) * 1_000;
  const counts = await Promise.all(Array.from({ length: PROGRAMS }, () => work(until)));
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - began) / 1_000);
}

const echo = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => response.end(Buffer.concat(chunks)));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => echo.once("listening", resolve));
const echoURL = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;

const sides: Record<string, (until: number) => Promise<number>> = {
  calls_per_s_in_process: async (until) => (await play("direct", until)).length,
  calls_per_s_http: async (until) => (await play("socket", until)).length,
  echo_per_s: async (until) => {
    let count = 0;
    for (; performance.now() < until; count++) await post(fetch, echoURL, "key", bodyOf(count));
    return count;
  },
};
const found = new Map<string, number[]>();
for (let round = 0; round < Number(values.rounds); round++)
  for (const [name, work] of Object.entries(sides)) {
    const rate = await throughput(work);
    found.set(name, [...(found.get(name) ?? []), rate]);
  }
for (const [name, rates] of found) put(name, median(rates));
put("http_share_of_echo", (figures["calls_per_s_http"] as number) / (figures["echo_per_s"] as number));

const alone = async (id: string): Promise<number> => {
  const steps: number[] = [];
  for (let i = 0; i < 20; i++) steps.push(...(await play(id)));
  return median(steps);
};
const [byHand, direct, socket] = [await alone("native"), await alone("direct"), await alone("socket")];
put("overhead_p50_ms", direct - byHand);
put("overhead_http_p50_ms", socket - byHand);

await Promise.all(Array.from({ length: CONCURRENT }, () => play("socket")));
put("concurrent_agents", CONCURRENT);
put("rss_mib", process.memoryUsage.rss() / 2 ** 20);
echo.close();
echo.closeAllConnections();
await host.close();
if (!values.json) console.table(figures);
printFigures("agents", loadedMachine(load), figures);
