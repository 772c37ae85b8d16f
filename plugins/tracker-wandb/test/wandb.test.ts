import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Tracker } from "@mrlm/spec";
import { wandb } from "../src/index.ts";

const python = process.env["MRLM_TEST_PYTHON"] ?? "python3";
const has = (module: string): boolean => {
  try {
    execFileSync(python, ["-c", `import ${module}; ${module}.__version__`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const hasPython = has("json");
const scratch = mkdtempSync(join(tmpdir(), "mrlm-wandb-"));
beforeAll(() => void (process.env["WANDB_ERROR_REPORTING"] = "false"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const defaults = { project: "test", tags: ["a"], mode: "offline" as const, config: true, python, finish_seconds: 90 };
const start = (run: string, resumedAt?: number, more: object = {}): Promise<Tracker> =>
  wandb.start({ run, name: "my run", config: { seed: 7 }, resumedAt }, { ...defaults, ...more });
const row = (step: number) => ({
  step,
  kind: "iteration" as const,
  stage: "grpo",
  metrics: { "reward/mean": step / 4, länge: 1e-3 },
});
const folder = (name: string): string => {
  mkdirSync(join(scratch, name));
  return join(scratch, name);
};

/** Reads the rows and the run of an offline folder from the messages of the SDK, which are in blocks of the LevelDB log format after a header of 7 bytes. */
const READ = `
import glob, json, sys
from wandb.proto import wandb_internal_pb2 as pb

def records(data):
    at, record = 7, b""
    while at + 7 <= len(data):
        if (left := 32768 - at % 32768) < 7: at += left; continue
        size, kind = int.from_bytes(data[at + 4:at + 6], "little"), data[at + 6]
        record += data[at + 7:at + 7 + size]; at += 7 + size
        if kind in (1, 4): yield record; record = b""

out = {"rows": []}
for data in records(open(glob.glob(sys.argv[1] + "/*.wandb")[0], "rb").read()):
    record = pb.Record(); record.ParseFromString(data)
    kind = record.WhichOneof("record_type")
    if kind == "run":
        config = {u.key: json.loads(u.value_json) for u in record.run.config.update}
        out |= {"id": record.run.run_id, "name": record.run.display_name, "project": record.run.project, "tags": list(record.run.tags), "seed": config.get("seed", out.get("seed"))}
    if kind == "history":
        row = {(i.key or "/".join(i.nested_key)): json.loads(i.value_json) for i in record.history.item}
        out["rows"].append([row["step"], row["reward/mean"], row["länge"], row["stage"]])
    if kind == "exit": out["exit"] = record.exit.exit_code
print(json.dumps(out))
`;

(has("wandb") ? describe : describe.skip)(
  "the SDK offline (skipped where no Python has wandb: MRLM_TEST_PYTHON names one)",
  () => {
    test("reads the logged rows; a resumed run keeps its id", async () => {
      const run = folder("offline");
      await wandb.check?.(defaults);
      for (const [resumedAt, steps, status] of [
        [undefined, [1, 2, 3], "stopped"],
        [2, [3, 300], "finished"],
      ] as const) {
        const tracker = await start(run, resumedAt);
        for (const step of steps) await tracker.log(row(step));
        await tracker.close(status);
      }
      const folders = readdirSync(join(run, "wandb"))
        .filter((name) => name.startsWith("offline-run-"))
        .toSorted();
      const read = folders.map(
        (name) =>
          JSON.parse(execFileSync(python, ["-c", READ, join(run, "wandb", name)], { encoding: "utf8" })) as {
            rows: unknown[][];
            exit: number;
          },
      );
      const about = {
        id: readFileSync(join(run, "wandb", "run-id"), "utf8").trim(),
        name: "my run",
        project: "test",
        tags: ["a"],
        seed: 7,
      };
      const rows = (...steps: number[]): unknown[] => steps.map((step) => [step, step / 4, 1e-3, "grpo"]);
      expect(read.toSorted((a, b) => b.exit - a.exit)).toEqual([
        { ...about, rows: rows(1, 2, 3), exit: 255 },
        { ...about, rows: rows(3, 300), exit: 0 },
      ]);
    });
  },
);

(hasPython ? describe : describe.skip)("failures (skipped where there is no Python)", () => {
  /** A package `wandb` of a few lines takes the SDK's place. */
  async function withPackage<T>(name: string, source: string, work: (run: string) => Promise<T>): Promise<T> {
    const packages = folder(`${name}-packages`);
    writeFileSync(join(packages, "wandb.py"), source);
    const before = process.env["PYTHONPATH"];
    process.env["PYTHONPATH"] = packages;
    try {
      return await work(folder(name));
    } finally {
      if (before === undefined) delete process.env["PYTHONPATH"];
      else process.env["PYTHONPATH"] = before;
    }
  }
  const RUN =
    "class Settings:\n  def __init__(self, **k): pass\nclass Run:\n  def define_metric(self, *a, **k): pass\n  def finish(self, exit_code): FINISH\n  def log(self, row): LOG\ndef init(**k): return Run()\ndef login(): return True\n";

  test("no package, no Python, no key: reported before the run, with a hint", async () => {
    await expect(
      withPackage(
        "missing",
        "raise ImportError('No module named wandb')",
        () => wandb.check?.(defaults) as Promise<void>,
      ),
    ).rejects.toMatchObject({
      code: "TRACKER_UNAVAILABLE",
      message: expect.stringContaining("cannot import wandb"),
      hint: expect.stringContaining("pip install wandb"),
    });
    await expect(wandb.check?.({ ...defaults, python: join(scratch, "absent") })).rejects.toMatchObject({
      code: "TRACKER_UNAVAILABLE",
      message: expect.stringContaining("does not start"),
    });
    const noKey = `${RUN}def login(): raise RuntimeError("No API key configured")\n`;
    await expect(
      withPackage("keyless", noKey, () => wandb.check?.({ ...defaults, mode: "online" }) as Promise<void>),
    ).rejects.toMatchObject({ hint: expect.stringContaining("WANDB_API_KEY") });
  });

  test("an SDK that breaks down mid-run fails the next call with its reason", async () => {
    await withPackage("crash", RUN.replace("LOG", "raise RuntimeError('disk full')"), async (run) => {
      const tracker = await start(run);
      const logged = async (): Promise<void> => {
        for (let step = 1; ; step++) {
          await tracker.log(row(step));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      await expect(logged()).rejects.toMatchObject({
        code: "TRACKER_FAILED",
        message: expect.stringContaining("RuntimeError: disk full"),
      });
    });
  });

  test("one that hangs at the end is ended after its deadline; it receives WANDB_* but no other secrets", async () => {
    process.env["MRLM_TOKEN"] = "secret";
    process.env["WANDB_NOTES"] = "passed";
    const source = `import json, os, time\n${RUN.replace("LOG", "json.dump(dict(os.environ), open('env.json', 'w'))").replace("FINISH", "time.sleep(600)").replace("def init(**k):", "def init(**k):\n  os.chdir(k['dir']);")}`;
    await withPackage("hang", source, async (run) => {
      const tracker = await start(run, undefined, { finish_seconds: 3 });
      await tracker.log(row(1));
      await expect(tracker.close("finished")).rejects.toMatchObject({
        code: "TRACKER_FAILED",
        message: expect.stringContaining("wandb sync"),
      });
      const seen = JSON.parse(readFileSync(join(run, "env.json"), "utf8")) as Record<string, string>;
      expect([seen["WANDB_NOTES"], seen["MRLM_TOKEN"]]).toEqual(["passed", undefined]);
    });
    delete process.env["MRLM_TOKEN"];
    delete process.env["WANDB_NOTES"];
  });
});
