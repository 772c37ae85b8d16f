import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { JsonValue, Task } from "@mrlm/kit";
import { researchOptions } from "../src/options.ts";
import { chainOf, questionOf } from "../src/relations.ts";
import { prepare } from "./support/environment.ts";

const directory = mkdtempSync(join(tmpdir(), "mrlm-research-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function firstTask(rows: readonly JsonValue[]): Promise<Task> {
  const path = join(directory, "tasks.jsonl");
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  const { tasks } = await prepare({ data: { path, eval_share: 0 } });
  return tasks.get("train", 0);
}

test("a question is read back as its chain", () => {
  const chain = { start: "Xanto", facts: ["founder", "birthplace", "number of employees"] };
  expect(questionOf(chain)).toBe("What is the number of employees of the birthplace of the founder of Xanto?");
  expect(chainOf(`Before. ${questionOf(chain)}\nAfter.`)).toEqual(chain);
  expect(chainOf("Who is it?")).toBeUndefined();
});

test("each task has a corpus of its own, whose pages do not depend on the options of other tasks", async () => {
  const { tasks } = await prepare({ pages: 12, hops: 2 });
  const [one, other] = await Promise.all([tasks.get("train", 0), tasks.get("train", 1)]);
  const site = one.private["site"] as Record<string, string>;
  expect(Object.keys(site)).toHaveLength(12);
  expect(Object.keys(site)).not.toEqual(Object.keys(other.private["site"] as object));
  expect(one.public).toEqual({ question: expect.stringMatching(/^What is the .* of the .* of \w+\?$/), hops: 2 });
});

test("a row has a question, an answer, and pages where the toolset has none", async () => {
  expect(await firstTask([{ question: "Who?", answer: "Ada", site: { "a.md": "# Ada" } }])).toEqual({
    id: "train/0",
    public: { question: "Who?" },
    private: { answer: "Ada", site: { "a.md": "# Ada" } },
  });
  expect(await firstTask([{ id: 7, question: "How many?", answer: 5 }])).toEqual({
    id: "train/0",
    public: { id: 7, question: "How many?" },
    private: { answer: "5" },
  });
});

test.each<[JsonValue, string]>([
  [["Who?"], "the row is no object"],
  [{ question: "Who?" }, "answer: must be a text or a number"],
  [{ question: "", answer: "x" }, "question"],
  [{ question: "Who?", answer: "x", site: ["a"] }, "site"],
])("%j is refused with its line", async (row, fault) => {
  const work = firstTask([{ question: "a", answer: "b" }, row]);
  await expect(work).rejects.toMatchObject({ code: "DATA_INVALID", message: expect.stringContaining("tasks.jsonl:2") });
  await expect(work).rejects.toThrow(fault);
});

describe("refuses", () => {
  test.each([
    [{ hops: [3, 1] }, "hops"],
    [{ hops: 7 }, "hops"],
    [{ main_turns: 1 }, "main_turns"],
    [{ context: "forget" }, "context"],
    [{ data: { path: "a.jsonl" }, hops: 2 }, "hops"],
    [{ data: { path: "a.jsonl" }, pages: 9 }, "pages"],
    [{ rewards: { browser: 1 } }, "rewards"],
    [{ toolset: "Web 1" }, "toolset"],
    [{ tools: [] }, "tools"],
  ])("%j", (given, name) => {
    const { error } = researchOptions.safeParse(given);
    expect(JSON.stringify(error?.issues)).toContain(name);
  });
});
