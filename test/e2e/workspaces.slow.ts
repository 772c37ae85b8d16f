import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { LocalWorkspaces } from "@mrlm/sandbox";
import type { Message, Part } from "@mrlm/spec";
import { Mrlm, ROOT } from "./support/mrlm.ts";

const missing = await LocalWorkspaces.make().then(
  (made) => made.close(),
  (error: Error) => error.message,
);
const TASK = "train/0";
const { signal } = new AbortController();

const calls = (...commands: readonly string[]): Message => ({
  role: "assistant",
  parts: commands.map((command, i): Part => ({ type: "tool-call", id: `c${i}`, name: "bash", arguments: { command } })),
});

(missing === undefined ? test : test.skip)(
  `mrlm serve --workers: each episode of a worker has a workspace of its own${missing === undefined ? "" : ` (not here: ${missing})`}`,
  async () => {
    const args = ["serve", "--environments", "harbor", "--workers", "2", "--port", "0", "--json"];
    const server = new Mrlm(args);
    const { address } = await server.event(({ event }) => event === "listening");
    const host = await connectEnvironments(address as string);
    const ref = {
      id: "harbor",
      options: { tasks: join(ROOT, "examples/harbor/tasks"), bases: { "debian:12": "host" } },
    };
    const play = async (name: string): Promise<void> => {
      const session = await host.open(ref);
      try {
        const { agent } = await session.reset({ task: TASK, signal });
        const step = async (message: Message) =>
          await session.step({ agent, message, finishReason: "stop" }, { signal });
        const first = await step(
          calls(`export NAME=${name}; echo "$NAME" > name; printf '\\303\\251\\000\\377' > bytes`),
        );
        expect(first.observation.agent).toBe(agent);
        const { observation } = await step(
          calls('cat name; echo "$NAME"; od -An -tx1 bytes; ls /logs/verifier 2>&1 | head -1'),
        );
        const text = observation.messages
          .flatMap(({ parts }) => parts)
          .flatMap((part) => (part.type === "tool-result" ? part.content : []))
          .map((part) => ("text" in part ? part.text : ""))
          .join("");
        expect(text).toMatch(new RegExp(`^${name}\n${name}\n c3 a9 00 ff\n`));
        const last = await step({ role: "assistant", parts: [{ type: "text", text: "Done." }] });
        expect(last.rewards[agent]).toMatchObject({ scored: true, value: 0 });
      } finally {
        await session.close();
      }
    };
    await Promise.all(["one", "two", "three", "four"].map(play));
    await host.close();
    server.child.kill("SIGINT");
    expect(await server.finished).toMatchObject({ code: 0, signal: null });
  },
  300_000,
);

(missing === undefined ? test : test.skip)(
  `mrlm serve --workers: programs reach the gateway of their worker${missing === undefined ? "" : ` (not here: ${missing})`}`,
  async () => {
    const server = new Mrlm(["serve", "--environments", "agent", "--workers", "2", "--port", "0", "--json"]);
    const { address } = await server.event(({ event }) => event === "listening");
    const host = await connectEnvironments(address as string);
    const folder = join(ROOT, "environments/agent/fixtures");
    const options = {
      command: "exec python3 agent.py",
      files: join(folder, "program"),
      data: { path: join(folder, "tasks.jsonl"), eval_share: 0 },
      score: { command: '[ "$(cat sum.txt)" = "$(cat "$SCORE/answer")" ]' },
    };
    const play = async (sum: number): Promise<unknown> => {
      const session = await host.open({ id: "agent", options });
      try {
        const { agent } = await session.reset({ task: TASK, signal });
        const step = async (message: Message) =>
          await session.step({ agent, message, finishReason: "stop" }, { signal });
        await step(calls(`echo ${sum} > sum.txt`));
        return (await step({ role: "assistant", parts: [{ type: "text", text: "Done." }] })).rewards[agent];
      } finally {
        await session.close();
      }
    };
    const rewards = await Promise.all([42, 41, 42, 43].map(play));
    expect(rewards).toMatchObject([1, 0, 1, 0].map((value) => ({ scored: true, value })));
    await host.close();
    server.child.kill("SIGINT");
    expect(await server.finished).toMatchObject({ code: 0, signal: null });
  },
  300_000,
);
