import { beforeAll, expect, test } from "@jest/globals";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { freePort } from "../../benchmarks/ports/free-port.ts";
import { type Finished, Mrlm } from "../e2e/support/mrlm.ts";
import { type Outcome, outcomeOf } from "../e2e/support/outcome.ts";
import { gone, killAll, type ProcessId, processTree, ranksIn } from "../e2e/support/process-tree.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { TINY, writeConfig } from "../e2e/support/tiny-run.ts";
import { leaveAlone } from "./support/kill-often.ts";

const directory = temporaryDirectory();
const stages = [
  { algorithm: "sft@1", batch_size: 8, learning_rate: 1e-2, steps: 8 },
  { algorithm: "grpo@1", prompts_per_step: 4, group_size: 4, learning_rate: 1e-3, steps: 6 },
];
const base = { ...TINY, server: {}, stages, eval: { tasks: 4 }, checkpoint: { every: 1 } };
const machines = async () => ({
  strategy: "ddp",
  nproc_per_node: 1,
  nnodes: 2,
  master_addr: "127.0.0.1",
  master_port: await freePort(),
});

/** A run of two machines. */
interface Pair {
  /** Machine 0, which trains. */
  readonly coordinator: Mrlm;
  /** Machine 1, which has joined. */
  readonly participant: Mrlm;
}

const treeOf = ({ child }: Mrlm): ProcessId[] => processTree(child.pid as number);
const errorOf = ({ events }: Finished) => events.find(({ event }) => event === "error");
const afterStep = ({ coordinator }: Pair, step: number) =>
  coordinator.event(({ event, step: done }) => event === "iteration" && (done as number) >= step);

/** Waits until both processes and their descendants have ended. */
async function ends(
  { coordinator, participant }: Pair,
  trees: readonly ProcessId[],
): Promise<readonly [Finished, Finished]> {
  const ended = await Promise.all([coordinator.finished, participant.finished]);
  await gone(trees);
  return ended;
}

describeWithEngine("a run over two machines (skipped where `npm run setup` has not run)", () => {
  let undisturbed: Outcome;
  beforeAll(async () => {
    const config = writeConfig(
      directory,
      { ...base, distributed: { strategy: "ddp", nproc_per_node: 2 } },
      "alone.yaml",
    );
    undisturbed = (await leaveAlone(config, join(directory, "alone"))).outcome;
  }, 600_000);

  test("whatever part of it is killed, the rest ends and reports it, and the run resumes to the bits that two ranks on one machine have", async () => {
    const config = writeConfig(directory, { ...base, distributed: await machines() }, "killed.yaml");
    let path: string | undefined;
    const begin = (): Pair => ({
      participant: new Mrlm(["join", "--json", "--config", config, "--node-rank", "1"]),
      coordinator: new Mrlm(
        path === undefined
          ? ["train", "--json", "--config", config, "--output", join(directory, "killed")]
          : ["train", "--json", "--resume", path],
      ),
    });
    const rankOf = (mrlm: Mrlm): number => ranksIn(treeOf(mrlm))[0] as number;
    const kills: readonly {
      readonly what: string;
      readonly kill: (pair: Pair) => RegExp;
      readonly reporting: readonly ("coordinator" | "participant")[];
    }[] = [
      {
        what: "all of machine 1",
        kill: ({ participant }) => (
          killAll(treeOf(participant)),
          /machine 1 \(127\.0\.0\.1, rank 1\) was lost: its connection broke/
        ),
        reporting: ["coordinator"],
      },
      {
        what: "all of machine 0",
        kill: ({ coordinator }) => (
          killAll(treeOf(coordinator)),
          /machine 0 \(127\.0\.0\.1, rank 0\) was lost: its connection broke/
        ),
        reporting: ["participant"],
      },
      {
        what: "a rank of machine 1",
        kill: ({ participant }) => killRank(rankOf(participant), 1),
        reporting: ["coordinator", "participant"],
      },
      {
        what: "a rank of machine 0",
        kill: ({ coordinator }) => killRank(rankOf(coordinator), 0),
        reporting: ["coordinator", "participant"],
      },
      {
        what: "mrlm join alone",
        kill: ({ participant }) => (
          participant.child.kill("SIGKILL"),
          /machine 1 \(127\.0\.0\.1, rank 1\) left the run/
        ),
        reporting: ["coordinator"],
      },
      {
        what: "mrlm train alone",
        kill: ({ coordinator }) => (
          coordinator.child.kill("SIGKILL"),
          /the command that started the run on machine 0 is gone/
        ),
        reporting: ["participant"],
      },
    ];
    for (const [i, { what, kill, reporting }] of kills.entries()) {
      const pair = begin();
      path ??= (await pair.coordinator.event(({ event }) => event === "start"))["directory"] as string;
      await afterStep(pair, 2 * i + 2);
      const trees = [...treeOf(pair.coordinator), ...treeOf(pair.participant)];
      const words = kill(pair);
      const [coordinator, participant] = await ends(pair, trees);
      for (const side of reporting) {
        const ended = side === "coordinator" ? coordinator : participant;
        const hint = expect.stringContaining(side === "coordinator" ? `--resume ${path}` : "mrlm train --resume RUN");
        expect([what, side, ended.code, errorOf(ended)]).toEqual([
          what,
          side,
          1,
          expect.objectContaining({ code: "ENGINE_EXITED", message: expect.stringMatching(words), hint }),
        ]);
      }
    }
    const [coordinator, participant] = await ends(begin(), []);
    expect([coordinator.code, participant.code]).toEqual([0, 0]);
    expect(outcomeOf(path as string)).toEqual(undisturbed);
    expect(readdirSync(join(directory, "killed"))).toHaveLength(1);
  }, 1_800_000);

  test("SIGTERM to both at once: machine 0 finishes its iteration, for which machine 1 stays, and both end with 130; a second one to machine 1 leaves", async () => {
    const config = writeConfig(directory, { ...base, distributed: await machines() }, "stopped.yaml");
    const guestOf = (): Mrlm => new Mrlm(["join", "--config", config, "--node-rank", "1"]);
    const pair = {
      participant: guestOf(),
      coordinator: new Mrlm(["train", "--json", "--config", config, "--output", join(directory, "stopped")]),
    };
    await afterStep(pair, 2);
    pair.participant.child.kill("SIGTERM");
    pair.coordinator.child.kill("SIGTERM");
    const [coordinator, participant] = await ends(pair, [...treeOf(pair.coordinator), ...treeOf(pair.participant)]);
    expect([coordinator.code, participant.code, participant.stderr]).toEqual([
      130,
      130,
      expect.stringContaining("waiting for machine 0 to end the run"),
    ]);
    const path = coordinator.events.find(({ event }) => event === "summary")?.["directory"] as string;

    const again = { participant: guestOf(), coordinator: new Mrlm(["train", "--json", "--resume", path]) };
    await afterStep(again, 4);
    const trees = [...treeOf(again.coordinator), ...treeOf(again.participant)];
    again.participant.child.kill("SIGINT");
    await again.participant.printed("waiting for machine 0 to end the run");
    again.participant.child.kill("SIGINT");
    const [left, leaver] = await ends(again, trees);
    expect([left.code, leaver.code, errorOf(left)]).toEqual([
      1,
      130,
      expect.objectContaining({ message: expect.stringContaining("machine 1 (127.0.0.1, rank 1) left the run") }),
    ]);
  }, 600_000);

  test("a machine that never comes, an address that leads nowhere, a port that is taken, a wait that is interrupted", async () => {
    const distributed = { ...(await machines()), join_seconds: 2 };
    const config = writeConfig(directory, { ...base, distributed }, "alone-at-last.yaml");
    const train = (path: string): Mrlm =>
      new Mrlm(["train", "--json", "--config", path, "--output", join(directory, "never")]);
    const joins = (path: string): Mrlm => new Mrlm(["join", "--json", "--config", path, "--node-rank", "1"]);

    const waited = await train(config).finished;
    expect([waited.code, errorOf(waited)]).toEqual([
      3,
      expect.objectContaining({
        code: "JOIN_TIMEOUT",
        message: expect.stringMatching(/^Machine 1 did not join .* at 127\.0\.0\.1:\d+ within 2 s\.$/),
      }),
    ]);
    const unreachable = await joins(config).finished;
    expect([unreachable.code, errorOf(unreachable)]).toEqual([
      3,
      expect.objectContaining({
        code: "JOIN_TIMEOUT",
        message: expect.stringMatching(/could not be reached at 127\.0\.0\.1:\d+ within 2 s: Connection refused/),
      }),
    ]);
    const unknown = await train(
      writeConfig(
        directory,
        { ...base, distributed: { ...distributed, master_addr: "no-such-machine.invalid" } },
        "unknown.yaml",
      ),
    ).finished;
    expect([unknown.code, errorOf(unknown)]).toEqual([
      2,
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("no address is known for no-such-machine.invalid"),
      }),
    ]);

    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const busy = await train(
      writeConfig(directory, { ...base, distributed: { ...distributed, master_port: port } }, "busy.yaml"),
    ).finished;
    expect([busy.code, errorOf(busy)]).toEqual([
      2,
      expect.objectContaining({
        code: "PORT_IN_USE",
        message: expect.stringContaining(String(port)),
        hint: expect.stringContaining("distributed.master_port"),
      }),
    ]);
    taken.close();

    const patient = writeConfig(
      directory,
      { ...base, distributed: { ...distributed, join_seconds: 600 } },
      "patient.yaml",
    );
    for (const [mrlm, words] of [
      [train(patient), "waiting up to 600 s for machine 1"],
      [joins(patient), "waiting up to 600 s for machine 0"],
    ] as const) {
      await mrlm.printed(words);
      await sleep(100);
      const tree = treeOf(mrlm);
      mrlm.child.kill("SIGINT");
      expect((await mrlm.finished).code).toBe(130);
      await gone(tree);
    }
  }, 600_000);
});

function killRank(pid: number, machine: number): RegExp {
  process.kill(pid, "SIGKILL");
  return new RegExp(`rank ${machine} on machine ${machine} \\(process ${pid}\\) was killed by SIGKILL`);
}
