import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "@jest/globals";
import { loadConfig, MetricsFile } from "@mrlm/runtime";
import { EpisodeReader } from "@mrlm/store";
import { describeWithEngine } from "./support/engine.ts";
import { Mrlm, run } from "./support/mrlm.ts";
import { runHere } from "./support/run-here.ts";
import { sharedEngine } from "./support/shared-engine.ts";
import { pythonJson, pythonWith, testWith } from "./support/python.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

interface Row {
  readonly id: string;
  readonly segments: readonly { readonly tokens: readonly number[]; readonly mask: readonly number[] }[];
  readonly reward: number;
}

const LOAD = `
import sys, json, datasets, pyarrow.parquet as parquet
datasets.disable_progress_bars()
table = parquet.read_table(sys.argv[2]).to_pylist()
rows = [list(datasets.load_dataset(kind, data_files=path, split="train", cache_dir=sys.argv[3])) for kind, path in (("json", sys.argv[1]), ("parquet", sys.argv[2]))]
keys = ("id", "task", "seed", "reward", "messages", "segments")
print(json.dumps({"sizes": [len(table), *map(len, rows)], "equal": [table == rows[1], all(a[k] == b[k] for a, b in zip(*rows) for k in ("id", "task", "seed", "reward", "segments"))], "first": {k: rows[1][0][k] for k in keys}}))
`;

const python = pythonWith("datasets", "pyarrow");

describeWithEngine("mrlm collect (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();
  const [jsonl, parquet] = [join(output, "episodes.jsonl"), join(output, "episodes.parquet")];
  const engine = sharedEngine();
  let model: string;

  beforeAll(async () => {
    // Few at once, so that a collection has several batches.
    const config = writeConfig(output, {
      ...TINY,
      sampling: { ...TINY.sampling, concurrency: 8 },
      server: {},
      engine: engine(),
      stages: TINY.stages.slice(0, 1),
      eval: { tasks: 0 },
    });
    const { events, code, stderr } = await run(["train", "--json", "--config", config, "--output", output]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    model = events.find(({ event }) => event === "summary")?.["directory"] as string;
    const collected = await run([...collect(), "-o", jsonl, "--json"]);
    expect(collected.events).toMatchObject([{ event: "collection", rows: 64, episodes: 64, failed: 0, unscored: 0 }]);
  }, 300_000);

  const collect = (): string[] => [
    "collect",
    "--model",
    model,
    "--environment",
    "math",
    "--seed",
    "5",
    "-n",
    "64",
    "--group-size",
    "4",
  ];
  const rowsOf = (file: string): Row[] =>
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);

  test("killed, it continues and ends with the same bytes", async () => {
    const again = join(output, "again.jsonl");
    // A separate engine: a killed command releases nothing from an engine that continues to run.
    const own = writeConfig(
      output,
      { ...loadConfig(join(model, "config.yaml")).config, engine: TINY.engine },
      "own-engine.yaml",
    );
    const partial = `${again}.partial`;
    const first = new Mrlm([...collect(), "--config", own, "-o", again]);
    while (
      first.child.exitCode === null &&
      !(existsSync(partial) && readFileSync(partial, "utf8").split("\n").length > 3)
    )
      await sleep(5);
    first.child.kill("SIGKILL");
    await first.finished;
    expect(await run([...collect(), "--config", own, "-o", again])).toMatchObject({ code: 0 });
    expect(readFileSync(again, "utf8")).toBe(readFileSync(jsonl, "utf8"));
    expect(existsSync(partial)).toBe(false);
    const reader = new EpisodeReader({ path: join(model, "episodes.sqlite") });
    const stored = Array.from(reader.read({ purpose: "collect" }), ({ trajectory }) => trajectory.id);
    reader.close();
    expect(new Set(stored)).toEqual(new Set(rowsOf(jsonl).map(({ id }) => id)));
  }, 300_000);

  test("SFT learns the tokens of its episodes, DPO compares them within their groups, from JSONL and from Parquet", async () => {
    expect(await run([...collect(), "-o", parquet])).toMatchObject({ code: 0 });
    const config = {
      ...TINY,
      server: {},
      engine: engine(),
      model: { path: join(model, "model") },
      eval: { tasks: 0 },
      stages: [
        { algorithm: "sft", data: parquet, steps: 1, batch_size: 64 },
        { algorithm: "dpo", data: jsonl, steps: 1, batch_size: 4 },
      ],
    };
    const { events, code, stderr } = await run([
      "train",
      "--json",
      "--config",
      writeConfig(output, config, "learn.yaml"),
      "--output",
      output,
    ]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const directory = events.find(({ event }) => event === "summary")?.["directory"] as string;
    const [sft, dpo] = new MetricsFile(join(directory, "metrics.jsonl")).rows() as unknown as {
      metrics: Record<string, number>;
    }[];
    const rows = rowsOf(jsonl);
    const groups = Map.groupBy(rows, ({ id }) => id.slice(0, id.lastIndexOf("/")));
    const chosen = rows
      .flatMap(({ segments }) => segments.flatMap(({ mask }) => mask))
      .reduce((sum, bit) => sum + bit, 0);
    const differ = [...groups.values()].filter((members) => new Set(members.map(({ reward }) => reward)).size > 1);
    expect([sft?.metrics["tokens/target"], dpo?.metrics["data/pairs"]]).toEqual([chosen, differ.length]);
    expect(dpo?.metrics["loss/preference"]).toBeCloseTo(Math.LN2, 5);
  }, 300_000);

  testWith(python)("datasets and pyarrow read both files (skipped where no Python has them)", () => {
    const { sizes, equal, first } = pythonJson(python as string, LOAD, jsonl, parquet, join(output, "cache")) as {
      sizes: number[];
      equal: boolean[];
      first: Row;
    };
    expect([sizes, equal]).toEqual([
      [64, 64, 64],
      [true, true],
    ]);
    expect(first.segments[0]?.tokens).toEqual(rowsOf(jsonl)[0]?.segments[0]?.tokens);
  });
});

const directory = temporaryDirectory();
test("what cannot be collected is reported before anything is started, with exit code 2", async () => {
  const [there, model] = [join(directory, "there.jsonl"), join(directory, "model")];
  writeFileSync(there, "");
  for (const [args, message] of [
    [["-o", there], "already exists"],
    [["-o", join(directory, "data.csv")], "ends neither in .jsonl nor in .parquet"],
    [["-o", join(directory, "no", "data.jsonl")], "There is no directory"],
    [
      ["-o", join(directory, "a.jsonl"), "-n", "10", "--group-size", "4"],
      "--num-episodes 10 is not a multiple of --group-size 4",
    ],
    [["-o", join(directory, "a.jsonl"), "--filter-reward", "much"], "--filter-reward much is not a number"],
    [["-o", join(directory, "a.jsonl")], "There is no model directory"],
  ] as const) {
    const { code, stderr } = await runHere(["collect", "--model", model, "--environment", "math", ...args]);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)]);
  }
});
