import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { type JsonObject, score, unscored } from "@mrlm/kit";
import type { Workspaces } from "@mrlm/spec";
import { type Case, openWorkspaces, play, PYTHON } from "./support/play.ts";
import { workspaceTest as test } from "./support/workspace-test.ts";

let workspaces: Workspaces;
beforeAll(async () => void (workspaces = await openWorkspaces()), 60_000);
afterAll(() => workspaces.close());

const python = (body: string): Case["files"] => ({ "agent.py": `${PYTHON}\n${body}` });
const right: Case["policy"] = () => "right";
const infoOf = (info: unknown): JsonObject => (info as { readonly agent: JsonObject }).agent;

describe("before the first call an episode fails, with the end of the program's output", () => {
  test.each<[string, string, JsonObject, RegExp]>([
    ["an error", "sys.exit('no config')", {}, /exit code 1. The end of its output: no config/],
    ["a return", "print('nothing to do')", {}, /it returned "ended with exit code 0. .*nothing to do/],
    [
      "a limit",
      "",
      { command: "echo waits; exec sleep 600", limits: { seconds: 10 } },
      /met the limit `seconds`; .*waits/,
    ],
    ["a missing command", "", { command: "exec missing-agent" }, /exit code 127.*missing-agent: not found/],
  ])("%s", async (_, body, options, message) => {
    await expect(play(workspaces, { files: python(body), options })).rejects.toMatchObject({
      code: "AGENT_FAILED",
      message: expect.stringMatching(message),
    });
  });
});

describe("after its first answer a program is scored", () => {
  const options = { score: { command: "true", range: [-1, 1] } };

  test.each(["sys.exit(3)", "os.kill(os.getpid(), 9)", "[].pop()"])("%s: the least reward", async (body) => {
    const { end, reward } = await play(workspaces, { files: python(`ask('a'); ${body}`), options });
    expect([reward, infoOf(end?.info)["failed"], end?.terminated]).toEqual([-1, 1, { "agent#1": true }]);
  });

  test("`of: all` grades one that failed", async () => {
    const graded = { score: { ...options.score, of: "all" } };
    expect((await play(workspaces, { files: python("ask('a'); sys.exit(3)"), options: graded })).reward).toBe(1);
  });

  test.each<[string, string, JsonObject, string]>([
    ["hangs", "ask('a'); time.sleep(600)", { seconds: 5 }, "limited"],
    ["is slow", "while True: ask('a'); time.sleep(0.1)", { total_seconds: 5 }, "limited"],
    ["makes many calls", "while True: status('a')", { calls: 5 }, "call_limited"],
    ["sends other keys", "ask('a')\nwhile True: status('a', key='mrlm-no')", { calls: 5 }, "call_limited"],
  ])("one that %s meets a limit, and is truncated", async (_, body, limits, count) => {
    const { end, reward } = await play(workspaces, { files: python(body), options: { ...options, limits } });
    expect(reward).toBe(-1);
    expect(end).toMatchObject({ terminated: {}, truncated: { "agent#1": true } });
    expect(infoOf(end?.info)).toMatchObject({ [count]: 1, abandoned: 0 });
  });

  test("a limit of the workspace is a failure of the program", async () => {
    const workspace = { memory_mb: 64 };
    const files = python("ask('a'); x = bytearray(500_000_000); time.sleep(600)");
    expect((await play(workspaces, { files, options: { ...options, workspace } })).reward).toBe(-1);
  });
});

describe("a score", () => {
  const files = python("open('f', 'w').write('from file'); print(ask('a'))");
  const graded = async (options: JsonObject, more: Partial<Case> = {}) =>
    (await play(workspaces, { files, policy: right, options: { score: options }, ...more })).reward;

  test("by the last line of a command", async () => {
    expect(await graded({ command: "echo 7; echo 0.25", reads: "number" })).toBe(0.25);
    expect(await graded({ command: "echo 0.25; echo passed", reads: "number" })).toMatch(/is no number.*passed/s);
    expect(await graded({ command: "echo 2", reads: "number" })).toMatch(/2 is outside of `score.range`/);
  });

  test("a command that cannot be run, or meets its limit, is unscored", async () => {
    expect(await graded({ command: "missing-check" })).toMatch(/exit code 127.*missing-check/);
    const limits = { seconds: 5 };
    const slow = { files, policy: right, options: { score: { command: "sleep 600" }, limits } };
    expect((await play(workspaces, slow)).reward).toMatch(/met the limit time/);
  });

  test("by a scorer, of the output or of a file", async () => {
    const seen: unknown[] = [];
    const scorer = {
      async score({ answer, expected, schema }: { answer: string; expected: string; schema?: string }) {
        seen.push([answer, expected, schema]);
        return { reward: answer === "" ? unscored("SCORER_FAILED", "none") : score(0.5), verdict: "", reason: "" };
      },
    };
    const scorers = { "own@1": scorer };
    expect(await graded({ scorer: "own@1" }, { scorers })).toBe(0.5);
    expect(await graded({ scorer: "own@1", file: "f", schema: "answer" }, { scorers })).toBe(0.5);
    expect(await graded({ scorer: "own@1", file: "missing" }, { scorers })).toBe("none");
    expect(seen).toEqual([
      ["right\n", "right", "text"],
      ["from file", "right", "answer"],
      ["", "right", "text"],
    ]);
  });
});

describe("bad input gets an error before the program runs", () => {
  test.each<[JsonObject, RegExp]>([
    [{ score: {} }, /must have one of command, scorer and judge/],
    [{ score: { command: "true", scorer: "math@2" } }, /must have one of command, scorer and judge/],
    [{ files: "/missing" }, /missing has no files/],
    [{ setup: "echo broken >&2; exit 4" }, /`setup` ended with exit code 4.*broken/],
    [{ env: { "A-B": "1" } }, /must be the name of a variable/],
  ])("%j", async (options, message) => {
    await expect(play(workspaces, { files: python("ask('a')"), options })).rejects.toThrow(message);
  });
});
