/**
 * npm run bench -- agent-programs [--json] [--seconds N]: programs in Python that `agent@1` runs in workspaces. Whole programs a second, from their start to their score, 64 at once; milliseconds
 * that a call adds to that of a program in the same process over a socket; memory of 64 programs at once that wait for an answer, of this process and of all of them.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import agent from "@mrlm/environment-agent";
import { definePlugin, textMessage } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { EnvironmentRef } from "@mrlm/spec/host";
import workspaceLocal from "@mrlm/workspace-local";
import { loadedMachine, printFigures } from "../figures.ts";
import { treeMemoryMib } from "../process-tree.ts";
import { median } from "../server/statistics.ts";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, seconds: { type: "string", default: "20" } },
});
const PROGRAMS = 64;
/** Calls of the program whose calls are timed. */
const CALLS = 100;
const BODY = "x".repeat(4_000);
const ANSWER = textMessage("assistant", "an answer");
const signal = new AbortController().signal;

/** Program that makes as many calls as its input states, over one connection. */
const PROGRAM = `
import http.client, json, os, sys
from urllib.parse import urlsplit
address = urlsplit(os.environ["OPENAI_BASE_URL"])
connection = http.client.HTTPConnection(address.netloc)
headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
for i in range(int(sys.stdin.read())):
    body = json.dumps({"model": "agent", "messages": [{"role": "user", "content": str(i) + "${BODY}"}]})
    connection.request("POST", address.path + "/chat/completions", body, headers)
    response = connection.getresponse()
    assert response.status == 200, response.read()
    response.read()
`;

const folder = mkdtempSync(join(tmpdir(), "bench-programs-"));
/** Returns an environment whose program makes so many calls. */
function programOf(calls: number): EnvironmentRef {
  const path = join(folder, `${calls}.jsonl`);
  writeFileSync(path, `${JSON.stringify({ instruction: String(calls), files: { "agent.py": PROGRAM } })}\n`);
  const data = { path, eval_share: 0 };
  return { id: "agent", options: { command: "exec python3 agent.py", data, score: { command: "true" } } };
}
const socket = agentEnvironment<unknown>({
  id: "socket@1",
  description: "Calls over a socket.",
  tasks: () => ({ splits: { train: 1, eval: 0 }, get: async () => ({ id: "train/0", public: {}, private: {} }) }),
  limits: { calls: CALLS },
  async run({ model }) {
    const { baseURL } = await model.listen();
    for (let i = 0; i < CALLS; i++) {
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${model.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "agent", messages: [{ role: "user", content: `${i}${BODY}` }] }),
      });
      await response.text();
    }
  },
  score: () => 1,
});

const load = loadavg()[0] as number;
const plugins = [agent, workspaceLocal, definePlugin({ name: "bench", environments: [socket] })];
const host = new LocalHost({
  source: await PluginHost.of(plugins, { plugins: { [workspaceLocal.name]: { warm: 8 } } }),
});

/** Plays an episode. Returns the milliseconds of each step but the last, which has the score. @param waits is called before the first step */
async function play(ref: EnvironmentRef, waits?: () => Promise<unknown>): Promise<number[]> {
  const session = await host.open(ref);
  const steps: number[] = [];
  try {
    let { agent: turn } = await session.reset({ task: "train/0", signal });
    await waits?.();
    while (turn !== "") {
      const began = performance.now();
      const { observation, rewards } = await session.step(
        { agent: turn, message: ANSWER, finishReason: "stop" },
        { signal },
      );
      steps.push(performance.now() - began);
      const failed = Object.values(rewards).find((each) => !each.scored || each.value !== 1);
      if (failed !== undefined) throw new Error(`An episode failed: ${JSON.stringify(failed)}`);
      turn = observation.agent;
    }
  } finally {
    await session.close();
  }
  return steps.slice(0, -1);
}

const figures: Record<string, number> = {};
const put = (name: string, value: number): void => void (figures[name] = Number(value.toPrecision(4)));
try {
  const [short, long] = [programOf(1), programOf(CALLS)];
  const pairs = [];
  for (let round = 0; round < 5; round++)
    pairs.push([median(await play(long)), median(await play({ id: "socket" }))] as const);
  put("overhead_p50_ms", median(pairs.map(([ours, http]) => ours - http)));

  const began = performance.now();
  const until = began + Number(values.seconds) * 1_000;
  let count = 0;
  const lane = async (): Promise<void> => {
    for (; performance.now() < until; count++) await play(short);
  };
  await Promise.all(Array.from({ length: PROGRAMS }, lane));
  put("programs_per_s", count / ((performance.now() - began) / 1_000));

  const all = Promise.withResolvers<void>();
  let waiting = 0;
  const hold = (): Promise<void> => {
    if (++waiting === PROGRAMS) {
      put("rss_mib", process.memoryUsage.rss() / 2 ** 20);
      put("tree_mib", treeMemoryMib(process.pid));
      all.resolve();
    }
    return all.promise;
  };
  await Promise.all(Array.from({ length: PROGRAMS }, () => play(short, hold)));
  put("concurrent_programs", PROGRAMS);
} finally {
  await host.close();
  rmSync(folder, { recursive: true });
}
if (!values.json) console.table(figures);
printFigures("agent-programs", loadedMachine(load), figures);
