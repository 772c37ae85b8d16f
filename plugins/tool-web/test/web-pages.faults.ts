/** Difficult pages: readable text within the CPU time and the memory of a worker thread, else cut and reported. */
import { afterAll, describe, expect, test } from "@jest/globals";
import { convertInWorker } from "../src/worker/convert-in-worker.ts";
import { WorkerFailure, WorkerPool } from "../src/worker/worker-pool.ts";
import { type DifficultPage, difficultPages } from "./support/difficult-pages.ts";

/** The limits of the options: 2 s of CPU time and 200 MiB. */
const pool = new WorkerPool({ threads: 1, cpuMs: 2000, memoryMib: 200 });
afterAll(async () => await pool.close());

const convert = async (
  { body, contentType = "text/html; charset=utf-8" }: Pick<DifficultPage, "body" | "contentType">,
  isMainContentOnly = false,
) =>
  await convertInWorker(
    pool,
    { bytes: Buffer.from(body as string), contentType, url: "https://example.org/", isMainContentOnly },
    { signal: new AbortController().signal },
  );

describe("difficult pages", () => {
  test("there are at least 30", () => expect(difficultPages.length).toBeGreaterThanOrEqual(30));

  test.each(difficultPages)('the page "$name": the text is readable, or cut and reported', async (page) => {
    const { markdown, isTruncated, notes } = await convert(page);
    for (const text of page.includes) expect(markdown).toContain(text);
    for (const text of page.excludes ?? []) expect(markdown).not.toContain(text);
    if (page.mayBeCut !== true) expect([notes, isTruncated]).toEqual([[], page.name.startsWith("1 MB")]);
  });

  test("a conversion is deterministic", async () => {
    const [page] = difficultPages.filter(({ name }) => name.startsWith("spans"));
    expect(await convert(page!)).toEqual(await convert(page!));
  });
});

describe("limits of the worker", () => {
  test("a page above the CPU time fails", async () => {
    const small = new WorkerPool({ threads: 1, cpuMs: 1, memoryMib: 200 });
    const [page] = difficultPages.filter(({ name }) => name === "5 MB of paragraphs");
    const source = {
      bytes: Buffer.from(page!.body as string),
      contentType: "text/html",
      url: "https://example.org/",
      isMainContentOnly: false,
    };
    await expect(convertInWorker(small, source, { signal: new AbortController().signal })).rejects.toThrow(
      WorkerFailure,
    );
    await small.close();
  });

  test("a page above the memory fails, and the next page has a new thread", async () => {
    const small = new WorkerPool({ threads: 1, cpuMs: 10_000, memoryMib: 48 });
    const options = { signal: new AbortController().signal };
    const page = (body: string) => ({
      bytes: Buffer.from(body),
      contentType: "text/html",
      url: "https://example.org/",
      isMainContentOnly: false,
      isPlain: false,
    });
    await expect(small.run("convert", page('<p class="a">x <b>y</b></p>'.repeat(400_000)), options)).rejects.toThrow(
      WorkerFailure,
    );
    expect((await small.run("convert", page("<p>next"), options)).markdown).toBe("next");
    await small.close();
  });
});
