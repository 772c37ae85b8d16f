import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import type { ModelClient } from "@mrlm/model-client";
import type { ChatServer } from "@mrlm/testing";
import { closeAll, connect, errorOf, KEY, never, request, respond, serve } from "./support/connect.ts";

let folder: string;
let server: ChatServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "mrlm-answers-"));
  server = await serve((_request, index) => `answer ${index}`);
});
afterEach(async () => {
  await closeAll();
  await rm(folder, { recursive: true });
});

type Mode = "record" | "replay" | "replay-or-fail";
const open = (mode: Mode, options: object = {}): ModelClient =>
  connect(server.baseUrl, { cache: { mode, file: join(folder, "answers.sqlite") }, ...options });
const ask = async (client: ModelClient, fields: object = {}): Promise<string> =>
  (await client.complete({ ...request, ...fields }, { signal: never })).text;

describe("recorded answers", () => {
  test("`replay` sends a request once, also for another client of the file, and `replay-or-fail` sends none", async () => {
    const first = open("replay");
    expect(await ask(first)).toBe("answer 0");
    expect(await ask(first)).toBe("answer 0");
    const second = open("replay");
    const completion = await second.complete(request, { signal: never });
    expect(completion).toMatchObject({ text: "answer 0", timing: { attempts: 0, isReplayed: true } });
    expect(await ask(open("replay-or-fail", { api_key_env: "UNSET_KEY" }))).toBe("answer 0");
    expect(server.requests).toHaveLength(1);
    expect(second.stats()).toMatchObject({ answers: 1, replayed: 1, requests: 0, inputTokens: 0 });
    expect([first.determinism, open("record").determinism, connect(server.baseUrl).determinism]).toEqual([
      "replayable",
      "none",
      "none",
    ]);
  });

  test("a request of other content has an answer of its own; the order of fields and the retries do not matter", async () => {
    const client = open("replay");
    await ask(client, { temperature: 1, seed: 1 });
    for (const fields of [
      { temperature: 1, seed: 2 },
      { temperature: 1, seed: 1, variant: 1 },
      { messages: [textMessage("user", "Bye")] },
    ])
      expect(await ask(client, fields)).not.toBe("answer 0");
    expect(await ask(client, { seed: 1, temperature: 1 })).toBe("answer 0");
    expect(await ask(open("replay", { model: "other" }), { seed: 1, temperature: 1 })).toBe("answer 4");
    expect(await ask(open("replay", { max_retries: 0, timeout_ms: 5 }), { seed: 1, temperature: 1 })).toBe("answer 0");
  });

  test("equal requests at the same time are sent once", async () => {
    const client = open("replay");
    expect(new Set(await Promise.all(Array.from({ length: 8 }, async () => await ask(client)))).size).toBe(1);
    expect(server.requests).toHaveLength(1);
  });

  test("`record` sends every request, and replaces the answer", async () => {
    await ask(open("record"));
    expect(await ask(open("record"))).toBe("answer 1");
    expect(await ask(open("replay"))).toBe("answer 1");
  });

  test("`replay-or-fail` rejects without a recording, and without its file", async () => {
    expect(() => open("replay-or-fail")).toThrow(expect.objectContaining({ code: "DATA_INVALID" }));
    await ask(open("replay"));
    const work = ask(open("replay-or-fail"), { seed: 7 });
    await expect(work).rejects.toMatchObject({ code: "ENDPOINT_RECORDING_MISSING" });
    expect(server.requests).toHaveLength(1);
  });

  test("failures are not recorded, and answers without an end are", async () => {
    const replies = [
      respond(400, { error: { message: "no" } }),
      { message: { content: null }, finishReason: "length" },
    ];
    const failing = await serve((_request, index) => replies[index] ?? "late");
    const client = connect(failing.baseUrl, { cache: { mode: "replay", file: join(folder, "answers.sqlite") } });
    expect((await errorOf(ask(client))).code).toBe("ENDPOINT_REQUEST_REFUSED");
    expect(await ask(client)).toBe("");
    expect(await ask(client)).toBe("");
    expect(failing.requests).toHaveLength(2);
  });

  test("the file holds no key of a request, and answers as they are (D1)", async () => {
    const quoting = await serve(() => `The key is ${KEY.slice(0, 7)}.`);
    const file = join(folder, "answers.sqlite");
    const client = connect(quoting.baseUrl, { cache: { mode: "replay", file }, api_key_env: "TEST_KEY" });
    expect(await ask(client)).toBe("The key is sk-test.");
    const parts = await Promise.all(
      (await readdir(folder)).map(async (name) => await readFile(join(folder, name), "latin1")),
    );
    const bytes = parts.join("");
    expect(bytes).toContain("The key is");
    expect(bytes).not.toContain(KEY.slice(0, 12));
  });

  test("a file that is no store of answers is rejected", async () => {
    await writeFile(
      join(folder, "answers.sqlite"),
      "this is no database, and it is long enough to be read as one".repeat(20),
    );
    expect(() => open("replay")).toThrow(expect.objectContaining({ code: "DATA_INVALID" }));
  });
});
