import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { LARGE_CALLS, playDisturbed } from "../../client/test/support/disturbed-play.ts";
import { workerServer } from "./support/worker-server.ts";

/** The environment of `chain-plugin.ts` as a package that a worker loads: each observation depends on all calls before. */
const CHAIN = `import { createHash } from "node:crypto";
const observe = (text) => ({ agent: "agent", messages: [{ role: "user", parts: [{ type: "text", text }] }] });
const create = () => {
  let state = "";
  const next = (...parts) => observe((state = createHash("sha256").update([state, ...parts].join("\\n")).digest("hex")));
  return {
    reset: async ({ seed }) => next("reset", String(seed)),
    async step(action) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const observation = next("step", action.message.parts[0].text);
      return { observation, rewards: { agent: { scored: true, value: 1, components: {} } }, terminated: { agent: false }, truncated: { agent: false } };
    },
  };
};
export default { apiVersion: 1, name: "chain", environments: [{ id: "chain@1", description: "", determinism: "full", create }] };
`;

function chainProject(): string {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-chain-"));
  const folder = join(directory, "node_modules", "chain");
  mkdirSync(folder, { recursive: true });
  const write = (path: string, content: object) => writeFileSync(join(path, "package.json"), JSON.stringify(content));
  write(directory, { name: "project", version: "1.0.0", dependencies: { chain: "1.0.0" } });
  const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["environment:chain@1"] };
  write(folder, { name: "chain", version: "1.0.0", type: "module", mrlm });
  writeFileSync(join(folder, "index.js"), CHAIN);
  return directory;
}

test("200 connections to a server with two workers that are reset during a step and 40 during a reset lose no call and repeat none", async () => {
  // FAULTS_SEED repeats a run.
  const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`FAULTS_SEED=${seed}`);
  const directory = chainProject();
  const server = await workerServer(directory, { count: 2 });
  try {
    const plays = await Promise.all(
      Array.from({ length: 4 }, (_, client) =>
        playDisturbed(server.server.port, {
          seed: seed + 100 * client,
          transport: client < 2 ? "stream" : "unary",
          midStep: 50,
          midReset: 10,
          offsets: LARGE_CALLS,
        }),
      ),
    );
    for (const { disturbed, undisturbed } of plays) expect(disturbed).toEqual(undisturbed);
    expect(server.workers.restarts).toBe(0);
  } finally {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 600_000);
