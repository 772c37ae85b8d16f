import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { PooledSandbox } from "@mrlm/sandbox";
import { readCorpus, runHostile } from "@mrlm/testing";
import { kinds, makeSandbox } from "./support/kinds.ts";

const folder = new URL("hostile/", import.meta.url);
const corpora = readdirSync(folder).map((file) => ({ file, programs: readCorpus(readFileSync(new URL(file, folder), "utf8")) }));

test("there are at least 80 hostile programs", () => {
  expect(corpora.flatMap(({ programs }) => programs).length).toBeGreaterThanOrEqual(80);
});

describe.each(kinds)("hostile programs in the kind $kind", ({ kind, missing }) => {
  if (missing !== undefined) {
    test.skip(`not here: ${missing}`, () => {});
    return;
  }
  let sandbox: PooledSandbox;
  beforeAll(async () => {
    sandbox = await makeSandbox(kind);
  });
  afterAll(() => sandbox.close());

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
