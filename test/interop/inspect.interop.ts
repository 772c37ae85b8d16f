import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { type ChatServer, startChatServer } from "@mrlm/testing";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { testPeer } from "./support/peer-python.ts";

const folder = temporaryDirectory();
let server: ChatServer;
beforeAll(async () => {
  // The first player leaves a multiple of four, where it can; a pile of five objects finds the endpoint down.
  server = await startChatServer(({ body }) => {
    const pile = Number(/(\d+) objects?/.exec(JSON.stringify(body.messages))?.[1] ?? 1);
    if (pile === 5) throw new Error("down");
    return String(pile % 4 === 0 ? 1 : pile % 4);
  });
});
afterAll(() => server.close());

interface Log {
  readonly samples: number;
  readonly epochs: number;
  readonly errors: number;
  readonly stated: Readonly<Record<string, number>>;
}

const INSPECT = { folder: "test/interop/inspect", program: "read.py" };

await testPeer(
  "Inspect's reader opens the logs of `mrlm eval`, and computes the same scores",
  INSPECT,
  async (play) => {
    const file = join(folder, "nim.eval");
    const finished = await run([
      ...[
        "eval",
        "--json",
        "--model",
        "openai:tiny",
        "--base-url",
        server.baseUrl,
        "--model-options",
        '{"max_retries": 0}',
      ],
      ...["--environment", "nim", "--player", "second={scripted: random}", "-n", "12", "--samples", "3"],
      ...["--inspect", file, "--set", `output=${join(folder, "runs")}`],
    ]);
    expect([finished.code, finished.stderr]).toEqual([0, expect.anything()]);
    const files = readdirSync(folder).filter((name) => name.endsWith(".eval"));
    expect(files.toSorted()).toEqual(["nim-2.eval", "nim.eval"]);
    const logs = (await play(file, join(folder, "nim-2.eval"))) as Log[];
    const [result] = finished.events.filter(({ event }) => event === "evaluation") as unknown as [
      Readonly<Record<"greedy" | "sampled", { accuracy: number; reward: number; episodes: number; failed: number }>>,
    ];
    for (const [i, kind] of (["greedy", "sampled"] as const).entries()) {
      const { accuracy, reward, episodes, failed } = result[kind];
      const scores = { accuracy: expect.closeTo(accuracy, 9), reward: expect.closeTo(reward, 9) };
      expect(logs[i]).toMatchObject({
        ...{ status: "success", task: "nim@1", same: true, epochs: i === 0 ? 1 : 3 },
        ...{ samples: episodes, summaries: episodes, errors: failed },
        ...{ stated: scores, means: scores, again: scores },
      });
      expect(accuracy).toBeGreaterThan(0);
    }
    expect(result.greedy.failed + result.sampled.failed).toBeGreaterThan(0);
  },
);
