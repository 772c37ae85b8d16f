import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MetricsFile } from "@mrlm/runtime";
import { describeWithEngine } from "./support/engine.ts";
import { freePort } from "../../benchmarks/ports/free-port.ts";
import { isAlive, Mrlm, ROOT, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const output = temporaryDirectory();
const example = readFileSync(join(ROOT, "examples/distributed/distributed.yaml"), "utf8");
const withDistributed = (section: string): string => example.replace(/^distributed:\n(?: {2}.*\n)+/m, section);
const machines = {
  strategy: "fsdp",
  nproc_per_node: 1,
  nnodes: 2,
  master_addr: "127.0.0.1",
  master_port: await freePort(),
};

/** Returns the loss, where there is one, and gradient norm of each iteration; `beside` runs while the run waits. */
async function train(
  name: string,
  text: string,
  beside: (mrlm: Mrlm) => Promise<void> = async () => undefined,
): Promise<number[][]> {
  const mrlm = new Mrlm(["train", "--json", "--config", writeConfig(name, text), "--output", join(output, name)]);
  await beside(mrlm);
  const { code, stderr, events } = await mrlm.finished;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("has no effect")]);
  while (mrlm.pids("engine").some(isAlive)) await sleep(50);
  const directory = events.find(({ event }) => event === "summary")?.["directory"] as string;
  const rows = new MetricsFile(join(directory, "metrics.jsonl")).rows() as unknown as {
    metrics?: Record<string, number>;
  }[];
  return rows.flatMap(({ metrics = {} }) =>
    metrics["optim/grad_norm"] === undefined ? [] : [[metrics["loss/nll"] ?? 0, metrics["optim/grad_norm"]]],
  );
}

function writeConfig(name: string, text: string): string {
  const path = join(output, `${name}.yaml`);
  writeFileSync(path, text);
  return path;
}

describeWithEngine(
  "one configuration, one process or two, on one machine or two (skipped where `npm run setup` has not run)",
  () => {
    test("numerics 2, 7: DDP on one machine and FSDP on two have the loss and gradient norm of one process, to 1e-5, for 20 steps with uneven data", async () => {
      const one = await train("one", withDistributed(""));
      expect(one).toHaveLength(22);
      const ddp = await train("ddp", example);
      const text = withDistributed(`distributed: ${JSON.stringify(machines)}\n`);
      const fsdp = await train("fsdp", text, joinLate);
      for (const found of [ddp, fsdp]) {
        expect(found).toHaveLength(22);
        for (const [i, values] of found.slice(0, 20).entries())
          for (const [j, value] of values.entries())
            expect(Math.abs(value - (one[i]?.[j] as number)) / Math.max(1, value)).toBeLessThan(1e-5);
      }
      const [directory, ...others] = readdirSync(join(output, "fsdp"));
      expect(others).toEqual([]);
      expect(
        readdirSync(join(output, "fsdp", directory as string, "checkpoints")).every((name) => /^\d+-\d$/.test(name)),
      ).toBe(true);

      /** Checks a late machine: machine 0 waits and reports it. A machine with other settings is refused. A matching machine ends with the run. */
      async function joinLate(mrlm: Mrlm): Promise<void> {
        await mrlm.printed(`waiting up to 600 s for machine 1 of 2 to join at 127.0.0.1:${machines.master_port}`);
        const wrong = await run([
          "join",
          "--node-rank",
          "2",
          "--config",
          writeConfig(
            "wrong",
            withDistributed(`distributed: ${JSON.stringify({ ...machines, nnodes: 3, strategy: "ddp" })}\n`),
          ),
        ]);
        expect([wrong.code, wrong.stderr]).toEqual([
          2,
          expect.stringMatching(
            /^error JOIN_REFUSED: .*nnodes is 3, and 2 on machine 0; strategy is ddp, and fsdp on machine 0/m,
          ),
        ]);
        const joined = new Mrlm(["join", "--json", "--node-rank", "1", "--config", join(output, "fsdp.yaml")]);
        await mrlm.finished;
        const { code, events } = await joined.finished;
        expect([code, events]).toEqual([0, [{ event: "joined", node_rank: 1, nodes: 2 }, { event: "ended" }]]);
      }
    }, 600_000);
  },
);
