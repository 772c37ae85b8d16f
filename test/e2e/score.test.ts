import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { openEpisodeStore } from "@mrlm/store";
import { Mrlm, run } from "./support/mrlm.ts";
import { runHere } from "./support/run-here.ts";

const directory = mkdtempSync(join(tmpdir(), "mrlm-score-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
function file(...lines: string[]): string {
  const path = join(directory, `${files++}.jsonl`);
  writeFileSync(path, lines.join("\n"));
  return path;
}
const FORMER = "former.jsonl";
const RIGHT = '{"expected": "$\\\\frac12$", "answer": "0.5"}';

test("mrlm score prints each row with its verdict", async () => {
  const { code, stdout } = await run([
    "score",
    "--scorer",
    "math",
    "--file",
    file(RIGHT, "", '{"expected": "5", "answer": "It is not 5", "id": 7}'),
  ]);
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect([code, rows]).toMatchObject([
    0,
    [
      { verdict: "equivalent", reward: 1 },
      { id: 7, verdict: "different", reward: 0 },
    ],
  ]);
});

test("mrlm score takes rows from a query of a store, and refuses two sources of rows", async () => {
  const store = join(directory, "episodes.sqlite");
  await (await openEpisodeStore({ path: store, purpose: "eval", endsLeases: false })).close();
  const score = ["score", "--scorer", "math"];
  const query = "select '$\\\\frac12$' as expected, '0.5' as answer, 7 as id, '{}' as options";
  const { code, stdout } = await run([...score, "--run", store, "--query", query]);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { id: 7, verdict: "equivalent", reward: 1 }]);
  for (const [flags, message] of [
    [
      ["--run", store, "--query", "select 1 as expected, 'a' as answer"],
      /row 1 of the query has no text in "expected"/,
    ],
    [["--run", store, "--query", "select task as expected, task as answer from v_episodes"], /The query has no rows/],
    [["--run", store, "--query", "select tsk from v_episodes"], /no such column: tsk\. Did you mean "task"/],
    [["--run", store], /--run and --query/],
    [["--run", store, "--query", query, "--file", file(RIGHT)], /--file, or from --run and --query/],
  ] as const)
    expect(await runHere([...score, ...flags])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(message),
    });
});

test.each([
  ["a line that is not JSON", () => file(RIGHT, "{"), /^error DATA_INVALID: .*\.jsonl:2: the line is not JSON/],
  [
    "a row without an answer",
    () => file(RIGHT, '{"expected": "1"}'),
    /^error DATA_INVALID: .*\.jsonl:2 has no text in "answer"/,
  ],
  ["a row that is not an object", () => file("null"), /^error DATA_INVALID: .*\.jsonl:1 has no text in "expected"/],
  [
    "options that are none",
    () => file('{"expected": "1", "answer": "1", "options": 2}'),
    /^error DATA_INVALID: .*\.jsonl:1 has no object in "options"/,
  ],
  ["a file that is not there", () => join(directory, "none.jsonl"), /^error DATA_INVALID: .*there is no such file/],
  ["a directory", () => directory, /^error DATA_INVALID: .*it is a directory/],
  ["a file without rows", () => file(""), /^error DATA_INVALID: .*has no rows/],
])("%s is refused before the first verdict, with exit code 2", async (_, path, message) => {
  const { code, stdout, stderr } = await runHere(["score", "--scorer", "math", "--file", path()]);
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(message)]);
});

test("an unknown scorer is named with the nearest one", async () => {
  const { code, stderr } = await runHere(["score", "--scorer", "mth", "--file", file(RIGHT)]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^error REQUIREMENT_MISSING: The command .* scorer "mth".*math/),
  ]);
});

test("a server opens only files below its root, and a row may name only scorers that are there", async () => {
  file('{"query": "1 + 1", "answer": "2", "scorer": "mth@1"}');
  writeFileSync(join(directory, FORMER), '{"query": "1 + 1", "answer": "2", "scorer": "math@1"}');
  const server = new Mrlm(["serve", "--environments", "math", "--port", "0", "--json", "--data-root", directory]);
  const { address } = await server.event(({ event }) => event === "listening");
  const host = await connectEnvironments(address as string);
  const describe = (path: string) => host.describe({ id: "math", options: { data: { path } } });
  await expect(describe("../out.jsonl")).rejects.toMatchObject({ code: "DATA_FORBIDDEN" });
  await expect(describe("/etc/hostname")).rejects.toMatchObject({ code: "DATA_FORBIDDEN" });
  await expect(describe(`${files - 1}.jsonl`)).rejects.toMatchObject({
    code: "REQUIREMENT_MISSING",
    message: expect.stringMatching(/\.jsonl:1 requires scorer "mth@1".*math@2/),
  });
  await expect(describe(FORMER)).rejects.toMatchObject({
    code: "REQUIREMENT_MISSING",
    message: expect.stringMatching(/former\.jsonl:1 requires scorer "math@1".*math@2/),
    hint: expect.stringMatching(/^math@2 replaces math@1\. .*form: equivalent/),
  });
  await host.close();
  server.child.kill("SIGINT");
  await server.finished;
});
