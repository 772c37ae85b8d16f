import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "@jest/globals";
import { readCorpus, runHostile } from "@mrlm/testing";
import { makeSandbox } from "./support/make-sandbox.ts";

const folder = new URL("hostile/", import.meta.url);
const corpora = readdirSync(folder).map((file) => ({ file, programs: readCorpus(readFileSync(new URL(file, folder), "utf8")) }));

const sandbox = makeSandbox();
afterAll(() => sandbox.close());

describe("hostile programs", () => {
  test("there are at least 80", () => {
    expect(corpora.flatMap(({ programs }) => programs).length).toBeGreaterThanOrEqual(80);
  });

  test.each(corpora)("$file: each ends as documented, and the next submission is as ever", async ({ programs }) => {
    const waiting = [...programs];
    const complaints: string[] = [];
    const work = async (): Promise<void> => {
      for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
        const { complaint } = await runHostile(sandbox, program);
        if (complaint !== undefined) complaints.push(`${program.name}: ${complaint}`);
      }
    };
    await Promise.all([work(), work()]);
    expect(complaints).toEqual([]);
  }, 600_000);
});
