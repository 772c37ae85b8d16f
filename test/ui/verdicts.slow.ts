import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { type JsonValue, score, type Trajectory, type TrajectoryGroup } from "@mrlm/spec";
import type { GradeRecord, PlayedBy } from "@mrlm/spec/host";
import { serveUi } from "@mrlm/ui";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { addGroups, smallRun } from "./support/run-with-episodes.ts";

const folder = temporaryDirectory();
let directory: string;

const player: PlayedBy = { kind: "policy", name: "policy", policy: "policy" };
const grade: GradeRecord = {
  ...{ scorer: "math@2", step: 0, agent: "agent", reward: score(0) },
  ...{ verdict: "unreadable", reason: "it is no number", extracted: "\\square" },
};

/** Returns a group of one episode of a version of `math`, with the grades that its host recorded. */
function played(environment: string, task: string, grades: readonly GradeRecord[]): TrajectoryGroup {
  const trajectory: Trajectory = {
    ...{ id: `${environment}/${task}`, environment, task, seed: 1, group: `g/${environment}`, member: 0 },
    turns: [
      {
        agent: "agent",
        messages: [textMessage("user", "What is 1 + 1?")],
        response: textMessage("assistant", "<answer>\\square</answer>"),
        stopReason: "stop",
        rewards: { agent: score(0) },
      },
    ],
    agents: {
      agent: { role: "agent", player, segments: [], total: score(0), end: { terminated: true, truncated: false } },
    },
    ...(grades.length === 0 ? {} : { info: { judgements: grades as unknown as JsonValue[] } }),
    seconds: { sampling: 0, environment: 0 },
  };
  return { id: trajectory.group, task, players: { agent: player }, trajectories: [trajectory] };
}

beforeAll(async () => {
  directory = await smallRun(folder, "graded", 1);
  await addGroups(directory, "evaluation/greedy", [
    played("math@1", "eval/1", []),
    played("math@2", "eval/2", [grade]),
  ]);
});

test("verdict, reason and answer of each grade are in show, query, report and the viewer", async () => {
  const line = "graded by math@2 after turn 1: unreadable, reward 0: it is no number; answer: \\square";
  expect((await run(["show", directory, "--task", "eval/2"])).stdout).toContain(line);
  const { events } = await run(["show", directory, "--task", "eval/2", "--json"]);
  expect(events).toMatchObject([{ grades: [{ scorer: "math@2", verdict: "unreadable", reason: grade.reason }] }]);
  const sql = "select info -> 'judgements' -> 0 ->> 'verdict' as verdict from v_episodes where environment = 'math@2'";
  expect((await run(["query", directory, sql])).stdout).toMatch(/^unreadable\s*$/m);
  const file = join(folder, "report.html");
  await run(["report", directory, "--html", file, "-n", "60"]);
  expect(readFileSync(file, "utf8")).toContain(line);
  expect(await judgementsInViewer("math@2")).toEqual([grade]);
});

test("an episode of a former version, which no plugin provides now, opens in show, query, report and the viewer", async () => {
  expect((await run(["show", directory, "--task", "eval/1"])).stdout).toMatch(/^task eval\/1 . math@1/m);
  const sql = "select environment, reward from v_episodes where environment like 'math@%' order by 1";
  expect((await run(["query", directory, sql])).stdout).toMatch(/^math@1 +0\s*\nmath@2 +0\s*$/m);
  const file = join(folder, "former.html");
  expect((await run(["report", directory, "--html", file, "-n", "60"])).code).toBe(0);
  expect(readFileSync(file, "utf8")).toContain("math@1");
  expect(await judgementsInViewer("math@1")).toEqual([]);
});

/** Returns what the viewer shows of the grades of the one episode of an environment. */
async function judgementsInViewer(environment: string): Promise<unknown> {
  const server = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
  try {
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${server.port}/api/runs${path}`)).json() as any;
    const [{ id }] = (await get("")).runs;
    const path = `/${encodeURIComponent(id)}/episodes`;
    const { columns, rows } = await get(`${path}?environment=${encodeURIComponent(environment)}`);
    expect(rows).toHaveLength(1);
    return (await get(`${path}/${rows[0][columns.indexOf("episode_key")]}`)).judgements;
  } finally {
    await server.close();
  }
}
