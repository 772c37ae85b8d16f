import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import type { JsonValue, Task } from "@mrlm/kit";
import { prepare } from "./support/environment.ts";

const directory = mkdtempSync(join(tmpdir(), "mrlm-tools-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Writes rows into a file and returns its first task. */
async function firstTask(rows: readonly JsonValue[], options = {}): Promise<Task> {
  const path = join(directory, "tasks.jsonl");
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  const { tasks } = await prepare({ data: { path, eval_share: 0 }, answer_schema: "text", ...options });
  return tasks.get("train", 0);
}

test("a row has a question, an answer, tools, files and a scorer", async () => {
  const row = {
    question: "Which number is in a.txt?",
    answer: "five",
    required_tools: ["read_file", ["search_files", "list_files"]],
    files: { "a.txt": "five" },
    scorer: "exact",
  };
  expect(await firstTask([row], { scorers: ["math@2", "exact@1"] })).toEqual({
    id: "train/0",
    public: { question: row.question, required_tools: row.required_tools, scorer: "exact@1" },
    private: { answer: "five", files: { "a.txt": "five" } },
  });
});

test("a row may have the keys id, query and answer_schema, and a number as answer", async () => {
  expect(await firstTask([{ id: 7, query: "6 times 7", answer: 42, answer_schema: "boxed" }])).toEqual({
    id: "train/0",
    public: { id: 7, question: "6 times 7", answer_schema: "boxed" },
    private: { answer: "42" },
  });
});

test.each([
  ["no answer", { question: "1+1" }, "answer: must be a text or a number"],
  ["no question", { answer: "2" }, "question"],
  ["two questions", { question: "1+1", query: "1+1", answer: "2" }, "both `question` and `query`"],
  ["a list", ["1+1", "2"], "the row is no object"],
  ["tools that are no list", { question: "1+1", answer: "2", required_tools: "calculator" }, "required_tools"],
  [
    "a tool twice",
    { question: "1+1", answer: "2", required_tools: ["a", ["b", "a"]] },
    "required_tools: names a tool twice",
  ],
  ["a tool without a name", { question: "1+1", answer: "2", required_tools: [""] }, "required_tools.0"],
  ["files that are no texts", { question: "1+1", answer: "2", files: { "a.txt": 1 } }, "files.a.txt"],
  ["a scorer that is not listed", { question: "1+1", answer: "2", scorer: "judge@1" }, "`scorers` does not list"],
])("%s is reported with its line", async (_name, row, message) => {
  await expect(firstTask([{ question: "1+1", answer: "2" }, row])).rejects.toMatchObject({
    code: "DATA_INVALID",
    message: expect.stringMatching(/tasks\.jsonl:2: /),
  });
  await expect(firstTask([{ question: "1+1", answer: "2" }, row])).rejects.toThrow(message);
});

test("a required tool that no toolset has ends the episode with the names of those that exist", async () => {
  const path = join(directory, "misspelt.jsonl");
  writeFileSync(path, JSON.stringify({ question: "1+1", answer: "2", required_tools: ["calculater"] }));
  const { play } = await prepare({ data: { path, eval_share: 0 } });
  await expect(play("train/0", ["2"])).rejects.toMatchObject({
    code: "DATA_INVALID",
    message: expect.stringContaining('"calculater"'),
    hint: expect.stringContaining("calculator"),
  });
});

test("a row of a file has no demonstration", async () => {
  const path = join(directory, "one.jsonl");
  writeFileSync(path, JSON.stringify({ question: "1+1", answer: "2" }));
  const { context, options } = await prepare({ data: { path, eval_share: 0 } });
  const { demonstrate } = await import("../src/demonstrate.ts");
  await expect(demonstrate(context, options, "train/0")).rejects.toMatchObject({ code: "DEMONSTRATION_REFUSED" });
});
