import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { serveUi } from "@mrlm/ui";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { rowsOf } from "./support/run-with-episodes.ts";
import { runWithCalls } from "./support/run-with-calls.ts";

const folder = temporaryDirectory();
let directory: string;
let server: Awaited<ReturnType<typeof serveUi>>;

beforeAll(async () => {
  directory = await runWithCalls(folder, "calls");
  server = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
});
afterAll(() => server?.close());

test("the calls of a program are a graph: retries, branches, other agents, and tokens that are learnt or not", async () => {
  const [[key]] = rowsOf(directory, "SELECT episode_key FROM v_episodes WHERE state = 'taken' LIMIT 1") as [[number]];
  const api = `http://127.0.0.1:${server.port}/api/runs`;
  const { runs } = (await (await fetch(api)).json()) as { runs: { id: string }[] };
  const detail = (await (await fetch(`${api}/${encodeURIComponent(runs[0]?.id ?? "")}/episodes/${key}`)).json()) as any;
  const { calls } = detail as { calls: readonly Record<string, unknown>[] };
  const shape = calls.map(({ turn, agent, match, parent, isBranch }) => [turn, agent, match, parent, isBranch]);
  expect(shape).toEqual([
    [0, "planner", "first", null, true],
    [0, "planner", "retry", 0, true],
    [1, "worker#1", "first", null, true],
    [2, "worker#2", "forked", null, true],
    [3, "helper", "first", null, true],
    [4, "helper", "continues", 4, false],
    [5, "planner", "continues", 0, false],
    [6, "worker#1", "continues", 2, false],
    [7, "planner", "rewritten", 6, true],
    [8, "planner", "rewritten", 8, true],
  ]);
  for (const { turn, agent, match, sampled, learnt, unlearnt, at, seconds } of calls) {
    expect(at).toBeGreaterThanOrEqual(0);
    if (match !== "retry") expect(seconds).toBeGreaterThanOrEqual(0);
    const hasTokens = match !== "retry" && agent !== "helper";
    expect([(sampled as number) > 0, learnt]).toEqual([hasTokens, turn === 7 ? 0 : sampled]);
    expect(unlearnt).toEqual(turn === 7 ? { superseded: sampled } : {});
  }
});
