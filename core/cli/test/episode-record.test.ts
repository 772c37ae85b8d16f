import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { TrajectoryGroup } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { EpisodeReader, openEpisodeStore } from "@mrlm/store";
import { EpisodeRecord } from "../src/services/episode-record.ts";
import { recordedConsole } from "./support/console.ts";

let run: string;
let store: string;
beforeEach(async () => {
  run = mkdtempSync(join(tmpdir(), "mrlm-record-"));
  store = join(run, "episodes.sqlite");
  writeFileSync(join(run, "config.yaml"), "");
  writeFileSync(join(run, "run.json"), JSON.stringify({ id: "one" }));
  writeFileSync(join(run, "metrics.jsonl"), `${JSON.stringify({ kind: "iteration", step: 7, stage: "grpo" })}\n`);
  await (await openEpisodeStore({ path: store, run: "one", purpose: "train", endsLeases: true })).close();
});
afterEach(() => rmSync(run, { recursive: true }));

const player: PlayedBy = { kind: "policy", name: "policy", policy: "policy" };
function group(id: string): TrajectoryGroup {
  const episode = {
    id: `${id}/0`,
    environment: "game@1",
    task: "eval/0",
    seed: null,
    group: id,
    member: 0,
    turns: [],
    agents: {},
    seconds: { sampling: 0, environment: 0 },
  };
  return { id, task: "eval/0", players: { agent: player }, trajectories: [episode] };
}

/** Records two groups, and returns the notes. */
async function record(model: string, named?: string, fault?: () => void): Promise<string> {
  const { console, err } = recordedConsole();
  const origin = { model, run: model.startsWith(run) ? run : undefined, store: named };
  const recorded = await EpisodeRecord.open(console, origin);
  fault?.();
  recorded.add("collect", [group("a")]);
  recorded.add("collect", [group("b")]);
  await recorded.close();
  return err();
}

function stored(path: string): unknown[] {
  const reader = new EpisodeReader({ path });
  const episodes = Array.from(reader.read({ purpose: "collect" }), ({ step, stage, trajectory }) => [
    step,
    stage,
    trajectory.id,
  ]);
  reader.close();
  return episodes;
}

describe("episodes of eval and collect", () => {
  test("are added to the store of the model's run, at the step of its weights", async () => {
    expect(await record(join(run, "model"))).toBe("");
    expect(await record(join(run, "checkpoints", "00000004-1", "model"))).toBe("");
    expect(stored(store)).toEqual([
      [7, "collect", "a/0"],
      [7, "collect", "b/0"],
      [4, "collect", "a/0"],
      [4, "collect", "b/0"],
    ]);
  });

  test("are added to --store, a new one or one of any run, and to none without a run", async () => {
    const other = join(run, "other.sqlite");
    expect(await record("/model", other)).toBe("");
    expect(await record("/model", other)).toBe("");
    expect(await record(join(run, "model"), store)).toBe("");
    expect(await record("/model")).toBe("");
    expect([stored(other).length, stored(store).length]).toEqual([4, 2]);
  });

  test("a --store that is no store is refused", async () => {
    await expect(record("/model", join(run, "run.json"))).rejects.toMatchObject({ code: "STORE_INVALID" });
  });

  test.each<[string, () => void, RegExp]>([
    [
      "of another run",
      () => writeFileSync(join(run, "run.json"), JSON.stringify({ id: "two" })),
      /belongs to run one, not to two/,
    ],
    ["that is missing", () => rmSync(store), /has no episode store/],
    ["that was moved away", () => rmSync(store), /has no episode store/],
    ["that is damaged", () => writeFileSync(store, "episodes ".repeat(1000)), /is damaged/],
    [
      "that cannot be opened",
      () => {
        rmSync(store);
        mkdirSync(store);
      },
      /cannot be opened/,
    ],
  ])("a store of the run %s is reported, and the command continues", async (_name, damage, message) => {
    damage();
    const notes = await record(join(run, "model"));
    expect(notes).toMatch(/^note: the episodes are not added to an episode store\. /);
    expect(notes).toMatch(message);
  });

  test("the store of a run names the run where run.json does not", async () => {
    writeFileSync(join(run, "run.json"), "{}");
    expect(await record(join(run, "model"))).toBe("");
  });

  test("a fault while episodes are added is reported once", async () => {
    const notes = await record(join(run, "model"), undefined, () => {
      const database = new DatabaseSync(store);
      database.exec("DROP TABLE turns; DROP TABLE segments; DROP TABLE groups");
      database.close();
    });
    expect(notes.match(/are not added/g)).toHaveLength(1);
  });
});
