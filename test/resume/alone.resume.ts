import { beforeAll, expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launchEngine } from "@mrlm/engine-torch";
import { writeTokenFile } from "@mrlm/process";
import { loadConfig, MetricsFile } from "@mrlm/runtime";
import { EpisodeReader } from "@mrlm/store";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { type Finished, Mrlm, ROOT, run } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { gone, killAll, processTree, ranksIn } from "../e2e/support/process-tree.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { leaveAlone } from "./support/kill-often.ts";
import { scenarios, WARM } from "./support/scenarios.ts";

const directory = temporaryDirectory();
const model = join(directory, "model");
const [, ppo, , , , , , ddp, fsdp] = scenarios(model, directory) as [
  Scenario,
  Scenario,
  Scenario,
  Scenario,
  Scenario,
  Scenario,
  Scenario,
  Scenario,
  Scenario,
];
type Scenario = ReturnType<typeof scenarios>[number];

const begin = (name: string, config: object): Mrlm =>
  new Mrlm([
    "train",
    "--json",
    "--config",
    writeConfig(directory, config, `${name}.yaml`),
    "--output",
    join(directory, name),
  ]);
const resume = (path: string): Promise<Finished> => run(["train", "--json", "--resume", path]);
const errorOf = ({ events }: Finished) => events.find(({ event }) => event === "error");
const afterStep = (mrlm: Mrlm, step: number) =>
  mrlm.event(({ event, step: done }) => event === "iteration" && (done as number) >= step);
const directoryOf = async (mrlm: Mrlm): Promise<string> =>
  (await mrlm.event(({ event }) => event === "start"))["directory"] as string;
const alone = (name: string, config: object) =>
  leaveAlone(writeConfig(directory, config, `${name}-alone.yaml`), join(directory, `${name}-alone`));

describeWithEngine("what a run does when one part of it fails (skipped where `npm run setup` has not run)", () => {
  beforeAll(async () => {
    renameSync(join((await alone("warm", WARM)).directory, "model"), model);
  }, 600_000);

  test.each([
    ["ddp", ddp],
    ["fsdp", fsdp],
  ])(
    "a rank of two killed alone (%s): the run ends and names it, no process remains, and it resumes bit for bit",
    async (name, { config }) => {
      const undisturbed = await alone(name, config);
      const mrlm = begin(name, config);
      const path = await directoryOf(mrlm);
      await afterStep(mrlm, 4);
      const tree = processTree(mrlm.child.pid as number);
      const rank = ranksIn(tree).find((pid) => pid !== mrlm.pids("engine")[0]) as number;
      process.kill(rank, "SIGKILL");
      const ended = await mrlm.finished;
      expect([ended.code, errorOf(ended)]).toEqual([
        1,
        expect.objectContaining({
          code: "ENGINE_EXITED",
          message: expect.stringContaining(`because rank 1 (process ${rank}) was killed by SIGKILL`),
          hint: expect.stringContaining(`--resume ${path}`),
        }),
      ]);
      await gone(tree);
      expect((await resume(path)).code).toBe(0);
      expect(outcomeOf(path)).toEqual(undisturbed.outcome);
    },
    1_800_000,
  );

  test("the trainer killed, its engine still running: the run takes it over, and resumes bit for bit", async () => {
    const engine = await launchEngine({ device: "cpu", threads: 1, logDirectory: directory });
    const secret = writeTokenFile(engine.token);
    try {
      const config = { ...ppo.config, engine: { address: engine.address, token_file: secret.path } };
      const undisturbed = await alone("remote", config);
      const mrlm = begin("remote", config);
      const path = await directoryOf(mrlm);
      for (const [process, step] of [
        [mrlm, 1],
        [undefined, 6],
        [undefined, 9],
      ] as const) {
        const victim = process ?? new Mrlm(["train", "--json", "--resume", path]);
        await afterStep(victim, step);
        await sleep(300 * Math.random());
        killAll(processTree(victim.child.pid as number));
        await victim.finished;
      }
      expect((await resume(path)).code).toBe(0);
      expect(outcomeOf(path)).toEqual(undisturbed.outcome);
    } finally {
      secret.remove();
      await engine.stop();
    }
  }, 1_800_000);

  test("the trainer killed while sandboxes are at work for its environments' server: no process remains", async () => {
    const mrlm = begin("code", {
      ...loadConfig(join(ROOT, "examples/code/code.yaml")).config,
      eval: { tasks: 0 },
      server: { spawn: true },
    });
    await afterStep(mrlm, 21);
    const tree = processTree(mrlm.child.pid as number);
    mrlm.child.kill("SIGKILL");
    await mrlm.finished;
    await gone(tree);
  }, 600_000);

  test("in throughput mode bits may differ, but no step is lost or there twice, and no token names weights that are later than its step's", async () => {
    const mrlm = begin("throughput", { ...ppo.config, engine: { mode: "throughput", threads: 2 } });
    const path = await directoryOf(mrlm);
    await afterStep(mrlm, 7);
    killAll(processTree(mrlm.child.pid as number));
    await mrlm.finished;
    expect((await resume(path)).code).toBe(0);
    const rows = new MetricsFile(join(path, "metrics.jsonl")).rows().filter(({ kind }) => kind === "iteration");
    expect(rows.map(({ step }) => step)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    const store = new EpisodeReader({ path: join(path, "episodes.sqlite") });
    const played = Array.from(store.read(), ({ step, trajectory }) => ({
      step,
      version: Math.max(
        ...Object.values(trajectory.agents).flatMap(({ segments }) =>
          segments.map(({ versions }) => Math.max(...versions)),
        ),
      ),
    }));
    store.close();
    expect(played).toHaveLength(8 * 16);
    const versionOf = (step: number): number[] => [
      ...new Set(played.filter((each) => each.step === step).map(({ version }) => version)),
    ];
    const versions = Array.from({ length: 8 }, (_, i) => versionOf(5 + i));
    expect(
      versions.every((each, i) => each.length === 1 && (each[0] as number) === (versions[0]?.[0] as number) + i),
    ).toBe(true);
  }, 1_800_000);

  (existsSync("/usr/bin/prlimit") ? test : test.skip)(
    "a disk that is full for the engine: that is reported, the last checkpoint is complete, and with room again the run resumes bit for bit (skipped without prlimit)",
    async () => {
      const undisturbed = await alone("full", ppo.config);
      const mrlm = begin("full", ppo.config);
      const path = await directoryOf(mrlm);
      await afterStep(mrlm, 6);
      execFileSync("prlimit", ["--pid", String(mrlm.pids("engine")[0]), "--fsize=4096"]);
      const ended = await mrlm.finished;
      expect([ended.code, errorOf(ended)]).toEqual([
        1,
        expect.objectContaining({
          code: "WRITE_FAILED",
          message: expect.stringContaining("File too large"),
          hint: expect.stringContaining(`--resume ${path}`),
        }),
      ]);
      expect(readdirSync(join(path, "checkpoints")).every((name) => /^\d+-\d$/.test(name))).toBe(true);
      expect((await resume(path)).code).toBe(0);
      expect(outcomeOf(path)).toEqual(undisturbed.outcome);
    },
    1_800_000,
  );

  test("each file of the newest checkpoint damaged: that is reported, the one before it is used, and the result is the same", async () => {
    const mrlm = begin("damage", ppo.config);
    const path = await directoryOf(mrlm);
    await afterStep(mrlm, 7);
    killAll(processTree(mrlm.child.pid as number));
    await mrlm.finished;
    // One damaged file after another, each time in the newest checkpoint that there is.
    for (const how of ["cut", "flipped"] as const) {
      const [newest] = readdirSync(join(path, "checkpoints"))
        .filter((name) => /^\d+-\d$/.test(name))
        .sort()
        .reverse() as [string];
      const files = readdirSync(join(path, "checkpoints", newest), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      const file = files[Math.floor(files.length * Math.random())] as string;
      if (how === "cut") truncateSync(file, Math.floor(statSync(file).size / 2));
      else
        writeFileSync(
          file,
          readFileSync(file).map((byte, i, { length }) => (i === length >> 1 ? byte ^ 1 : byte)),
        );
      const again = new Mrlm(["train", "--json", "--resume", path]);
      await afterStep(again, 8);
      killAll(processTree(again.child.pid as number));
      const { stderr } = await again.finished;
      expect(stderr).toMatch(
        new RegExp(
          `Checkpoint \\S+${newest} (was cut|was changed|has no readable manifest).*Checkpoint \\S+ is complete and is used instead`,
        ),
      );
    }
    expect((await resume(path)).code).toBe(0);
    const weights = (of: string): string =>
      createHash("sha256")
        .update(readFileSync(join(of, "model", "model.safetensors")))
        .digest("hex");
    expect(weights(path)).toBe(weights((await alone("damage", ppo.config)).directory));
  }, 1_800_000);
});
