import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { score, type Trajectory } from "@mrlm/spec";
import { Ratings } from "../src/person/ratings.ts";
import type { SeatChoice } from "../src/person/seat.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-ratings-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { signal } = new AbortController();

function episode(id: string, error?: Trajectory["error"]): Trajectory {
  const response = { role: "assistant", parts: [{ type: "text", text: id }] } as const;
  return {
    ...{
      id,
      environment: "math@2",
      task: "eval/0",
      seed: null,
      group: "g",
      member: 0,
      seconds: { sampling: 0, environment: 0 },
    },
    turns: [{ agent: "agent", messages: [], response, stopReason: "stop", rewards: { agent: score(0.5) } }],
    agents: {
      agent: {
        role: "agent",
        player: { kind: "policy", name: id, policy: "policy" },
        ...{ segments: [], total: score(0.5), end: { terminated: true, truncated: false } },
      },
    },
    ...(error && { error }),
  };
}

/** Rates a task with an answer to its question. Returns the rewards by the name of the player, and what was offered. */
async function rate(own: readonly Trajectory[], others: readonly Trajectory[], answer: string) {
  const file = join(folder, `${Math.random()}.jsonl`);
  const [shown, offered]: [string[], SeatChoice[]] = [[], []];
  const seat = {
    ...{ help: "", observe: () => undefined, ask: async () => undefined, close: () => undefined },
    show: (text: string) => void shown.push(text),
    choose: async (_: string, { choices }: { readonly choices: readonly SeatChoice[] }) => {
      offered.push(...choices);
      return answer;
    },
  };
  expect(await new Ratings({ seat, file, signal }).rate({ task: "eval/0", own, others }, "run")).toBe(true);
  const rows = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { player: { name: string }; reward: number });
  return { rewards: Object.fromEntries(rows.map(({ player, reward }) => [player.name, reward])), shown, offered };
}

test("the numbers of the choices are those that are shown, also where an episode failed", async () => {
  const failed = episode("failed", { code: "PLAYER_FAILED", message: "down" });
  const { rewards, shown, offered } = await rate([episode("mine")], [failed, episode("a"), episode("b")], "3");
  expect(offered.map(({ key, label }) => `${key} ${label}`)).toEqual([
    "1 yours",
    "3 episode 3",
    "4 episode 4",
    " no rating",
  ]);
  expect(shown.find((text) => text.includes("episode 3:"))).toContain("a");
  expect(rewards).toEqual({ mine: 0, a: 1, b: 0 });
});

test("one episode alone is good or not", async () => {
  expect((await rate([episode("mine")], [], "y")).rewards).toEqual({ mine: 1 });
  expect((await rate([episode("mine")], [], "n")).rewards).toEqual({ mine: 0 });
});
