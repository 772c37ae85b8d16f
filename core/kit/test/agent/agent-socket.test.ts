import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { MrlmError, score } from "@mrlm/kit";
import type { AgentModel } from "../../src/agent.ts";
import { chat, environment, play, user } from "./support/play.ts";

const folder = mkdtempSync(join(tmpdir(), "sockets-"));
afterAll(() => rmSync(folder, { recursive: true }));
let last = 0;
const path = (): string => join(folder, String(++last));

/** Sends a chat request to a Unix socket. Returns its status. */
async function send(socketPath: string, key: string, content = "a"): Promise<number> {
  const sent = request({ socketPath, path: "/v1/chat/completions", method: "POST", headers: { "x-api-key": key } });
  const answered = new Promise<number>((resolve, reject) => {
    sent.on("response", (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
  });
  sent.end(JSON.stringify({ model: "agent", messages: [user(content)] }));
  return answered;
}

test("a socket answers the calls of its episode alone, and is gone after the end", async () => {
  const [one, other] = [path(), path()];
  const others = Promise.withResolvers<string>();
  const end = Promise.withResolvers<void>();
  const running = play(
    environment({
      async run({ model }) {
        await model.listen({ socketPath: other });
        others.resolve(model.apiKey);
        await end.promise;
        await send(other, model.apiKey);
      },
    }),
  );
  let seen: unknown[] = [];
  const played = await play(
    environment({
      async run({ model }) {
        const { baseURL, env } = await model.listen({ socketPath: one });
        seen = [baseURL, env["OPENAI_API_KEY"] === model.apiKey];
        const keys = [await others.promise, "", `mrlm-${"0".repeat(48)}`, model.apiKey];
        for (const key of keys) seen.push(await send(one, key));
        seen.push(existsSync(one));
        await expect(model.listen({ socketPath: path() })).rejects.toThrow("the episode has a socket already");
      },
    }),
  );
  end.resolve();
  await running;
  expect(seen).toEqual(["http://localhost/v1", true, 401, 401, 401, 200, true]);
  expect(played.observations).toHaveLength(1);
  expect([existsSync(one), existsSync(other)]).toEqual([false, false]);
});

test("an address that cannot be opened is no fault of the program", async () => {
  for (const socketPath of [join(folder, "x".repeat(100)), join(folder, "missing", "socket")]) {
    const run = async ({ model }: { model: AgentModel }) => void (await model.listen({ socketPath }));
    await expect(play(environment({ run }))).rejects.toMatchObject({ code: "AGENT_LISTEN_FAILED" });
  }
});

test("what `open` returns is that of the program and of the score; its error is that of the reset", async () => {
  const opening = environment({
    open: async () => 0.5 as never,
    async run({ model, opened }) {
      await chat(model, { messages: [user(String(opened))] });
    },
    score: ({ opened }) => opened as unknown as number,
  });
  expect((await play(opening)).last.rewards).toEqual({ agent: score(0.5) });
  const failing = environment({
    open: () => Promise.reject(new MrlmError("SANDBOX_FAILED", "no place")),
    run: () => {},
  });
  await expect(play(failing)).rejects.toMatchObject({ code: "SANDBOX_FAILED", message: "no place" });
});

test("limits may depend on options; requests that are no calls are limited too", async () => {
  let statuses = new Map<number, number>();
  const flooding = environment({
    limits: () => ({ calls: 2 }),
    async run({ model }) {
      await chat(model, { messages: [user("a")] });
      statuses = new Map();
      for (let i = 0; i < 60; i++) {
        const { status } = await chat({ ...model, apiKey: "other" }, { messages: [user("a")] });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    },
  });
  const { last: end } = await play(flooding);
  expect([...statuses]).toEqual([
    [401, 39],
    [400, 21],
  ]);
  expect(end).toMatchObject({ truncated: { agent: true }, info: { agent: { call_limited: 1 } } });
});
