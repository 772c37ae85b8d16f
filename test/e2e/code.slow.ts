import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { MetricsFile } from "@mrlm/runtime";
import type { Message } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { textMessage } from "@mrlm/kit";
import { readCorpus } from "@mrlm/testing";
import { describeWithEngine } from "./support/engine.ts";
import { Mrlm, run } from "./support/mrlm.ts";
import { gone, processTree } from "./support/process-tree.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const { signal } = new AbortController();

describeWithEngine("examples/code (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test("a tiny model is trained by PPO on code that runs in the sandbox", async () => {
    const { code, events, stderr } = await run([
      "train",
      "--json",
      "--config",
      "examples/code/code.yaml",
      "--output",
      output,
    ]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const directory = events.find(({ event }) => event === "summary")?.["directory"] as string;
    const rows = new MetricsFile(join(directory, "metrics.jsonl"))
      .rows()
      .filter(({ kind, stage }) => kind === "iteration" && stage === "ppo");
    expect(rows.at(-1)).toMatchObject({
      metrics: {
        "episodes/unscored": 0,
        "episodes/failed": 0,
        "reward/tests": expect.anything(),
        "reward/all_passed": expect.anything(),
      },
    });
  }, 600_000);
});

test("mrlm serve: a client earns the full reward with a reference, and nothing by cheating", async () => {
  const server = new Mrlm(["serve", "--environments", "code", "--port", "0", "--json", "--demonstrations"]);
  const { address, environments } = await server.event(({ event }) => event === "listening");
  expect(environments).toEqual(["code@2"]);
  const host = await connectEnvironments(address as string);
  for (const language of ["python", "typescript"]) {
    const ref = { id: "code", options: { language } };
    const [demonstration] = await host.demonstrate(ref, ["train/3"]);
    const session = await host.open(ref);
    const { agent } = await session.reset({ task: "train/3", signal });
    const { rewards } = await session.step(
      { agent, message: demonstration?.messages.at(-1) as Message, finishReason: "stop" },
      { signal },
    );
    expect(rewards[agent]).toMatchObject({ scored: true, value: 1 });
    await session.close();
  }
  expect(await earnedByCheats(host, "python", "python-process")).toEqual([]);
  expect(await earnedByCheats(host, "typescript", "typescript")).toEqual([]);
  await host.close();
  server.child.kill("SIGINT");
  expect(await server.finished).toMatchObject({ code: 0, signal: null });
}, 300_000);

test("R16: mrlm serve that is killed with submissions under way leaves no process", async () => {
  const server = new Mrlm(["serve", "--environments", "code", "--port", "0", "--json"]);
  const { address } = await server.event(({ event }) => event === "listening");
  const host = await connectEnvironments(address as string);
  const answers = { python: "```python\nwhile True: pass\n```", typescript: "```ts\nfor (;;);\n```" };
  const idle = processTree(server.child.pid as number).length;
  for (const [language, answer] of Object.entries(answers)) {
    const limits = { wall_ms: 60_000, cpu_ms: 60_000 };
    const session = await host.open({ id: "code", options: { language, attempts: 1, limits } });
    const { agent } = await session.reset({ task: "train/3", signal });
    const action = { agent, message: textMessage("assistant", answer), finishReason: "stop" } as const;
    session.step(action, { signal }).catch(() => undefined);
  }
  let tree = processTree(server.child.pid as number);
  while (tree.length < idle + 2) {
    await sleep(100);
    tree = processTree(server.child.pid as number);
  }
  await sleep(1_000);
  tree = processTree(server.child.pid as number);
  server.child.kill("SIGKILL");
  const end = performance.now() + 10_000;
  await gone(tree);
  expect(performance.now()).toBeLessThan(end);
  await host.close();
}, 300_000);

/** Returns the rewards of the cheats of the environment's own tests that earn anything or are not scored. */
async function earnedByCheats(host: EnvironmentHost, language: string, corpus: string): Promise<string[]> {
  const cheats = readCorpus(
    readFileSync(new URL(`../../environments/code/test/cheats/${corpus}.txt`, import.meta.url), "utf8"),
  );
  const options = {
    language,
    style: "terse",
    families: ["counting"],
    difficulty_range: 3,
    attempts: 1,
    limits: { wall_ms: 1_500, cpu_ms: 1_500 },
  };
  const found = await Promise.all(
    cheats.map(async ({ name, code }) => {
      const session = await host.open({ id: "code", options });
      const { agent } = await session.reset({ task: "train/0", signal });
      const { rewards } = await session.step(
        { agent, message: textMessage("assistant", `\`\`\`${language}\n${code}\n\`\`\``), finishReason: "stop" },
        { signal },
      );
      await session.close();
      const reward = rewards[agent];
      return reward?.scored === true && reward.value === 0 ? [] : [`${name}: ${JSON.stringify(reward)}`];
    }),
  );
  return found.flat();
}
