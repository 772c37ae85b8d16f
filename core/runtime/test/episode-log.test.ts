import { afterAll, describe, expect, test } from "@jest/globals";
import { copyFileSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MrlmError } from "@mrlm/spec";
import type { Engine, EpisodeStore, Sampler, TakenBatch } from "@mrlm/spec/host";
import { MetricsFile, openRun, trainRun } from "@mrlm/runtime";
import { openEpisodeStore, openLocalStore, STORE_FILE, type StoreSettings } from "@mrlm/store";
import { BigramEngine } from "@mrlm/testing";
import { CONFIG, prepare, removeTemporaryDirectories } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const STEPS = 5;
const EPISODES = 8;
const RUN = {
  ...CONFIG,
  stages: [{ algorithm: "reinforce", steps: STEPS }],
  eval: { tasks: 0 },
  checkpoint: { every: 3, keep: 9 },
};
const killed = new MrlmError("ENGINE_EXITED", "killed");

interface Life {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly openStore?: (settings: StoreSettings) => Promise<EpisodeStore>;
  readonly engine?: Engine;
  readonly resume?: string;
}

interface Lived {
  readonly directory: string;
  readonly error: MrlmError | undefined;
  /** Key of each sampled turn. */
  readonly keys: readonly bigint[];
}

/** Trains until the end or the first error. */
async function live({
  config = RUN,
  openStore = openLocalStore,
  engine = new BigramEngine(),
  resume,
}: Life = {}): Promise<Lived> {
  const { prepared, host } = await prepare(config);
  const opened = resume === undefined ? undefined : await openRun(resume, () => undefined);
  const keys: bigint[] = [];
  let directory = resume ?? "";
  const error = await trainRun({
    prepared,
    host,
    engine: recording(engine, keys),
    openStore,
    ...(opened === undefined ? {} : { run: opened.run }),
    ...(opened?.checkpoint === undefined ? {} : { checkpoint: opened.checkpoint }),
    onEvent: (event) => void (event.kind === "start" && ({ directory } = event)),
  }).then(
    () => undefined,
    (thrown: MrlmError) => thrown,
  );
  return { directory, error, keys };
}

function recording(engine: Engine, keys: bigint[]): Engine {
  return new Proxy(engine, {
    get: (target, name: keyof Engine) =>
      name === "sampler"
        ? async (model: string): Promise<Sampler> => {
            const sampler = await target.sampler(model);
            return {
              sample: (request, options) => (keys.push(request.key), sampler.sample(request, options)),
              barrier: () => sampler.barrier(),
              close: () => sampler.close(),
            };
          }
        : target[name].bind(target),
  });
}

type Operation = Exclude<keyof EpisodeStore, "watch">;

type Moment = "before" | "within" | "after";

/**
 * Opens a store after whose `nth` call of an operation, before it or within it, the process is killed: it makes no more calls. Of commits, the last one of each
 * cohort counts; within it, the cohort is committed and the batch is not taken.
 */
const dying =
  (operation: Operation, nth: number, when: Moment) =>
  async (settings: StoreSettings): Promise<EpisodeStore> => {
    let made = 0;
    let isDead = false;
    const store = await openLocalStore(settings);
    const names = [
      "open",
      "lease",
      "renew",
      "commit",
      "take",
      "refuse",
      "settle",
      "abandon",
      "record",
      "announce",
      "mirror",
      "prune",
      "flush",
    ] as const;
    const calls = names.map((name) => [
      name,
      async (...args: readonly unknown[]) => {
        const call = store[name].bind(store) as (...args: readonly unknown[]) => Promise<unknown>;
        const isCounted = name === operation && (name !== "commit" || (args[2] as { readonly isLast: boolean }).isLast);
        const isLast = isCounted && ++made === nth;
        isDead ||= isLast && when === "before";
        if (isDead) throw killed;
        const [lease, groups] = args;
        const isWithin = isLast && when === "within";
        const result = await (isWithin ? call(lease, groups, { isLast: true }) : call(...args));
        isDead = isLast;
        if (isDead) throw killed;
        return result;
      },
    ]);
    return { ...Object.fromEntries(calls), close: () => store.close() } as EpisodeStore;
  };

const weights = ({ directory }: Lived): Buffer => readFileSync(join(directory, "model", "weights.bin"));
const metrics = ({ directory }: Lived): unknown[] =>
  new MetricsFile(join(directory, "metrics.jsonl")).rows().map(({ seconds: _, ...row }) => row);
function query({ directory }: Lived, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(join(directory, STORE_FILE), { readOnly: true });
  const rows = database.prepare(sql).all();
  database.close();
  return rows as Record<string, unknown>[];
}
/** Episodes of all batches that stay, with their credits, in order. */
const BATCHES = `SELECT steps.step, batches.refill, episodes.id, credits.advantage FROM batches
  JOIN steps ON steps.key = batches.step JOIN groups ON groups.key = batches.group_key JOIN episodes ON episodes.group_key = groups.key
  LEFT JOIN credits ON credits.step = steps.key AND credits.episode = episodes.key
  WHERE batches.is_abandoned = 0 ORDER BY steps.step, batches.refill, batches.position, episodes.member`;

const whole = live();

describe("a run that is killed between two operations of its store", () => {
  test.each<[Operation, number, Moment, number]>([
    ["open", 3, "before", 0],
    ["lease", 5, "after", 0],
    ["commit", 3, "before", EPISODES],
    ["commit", 3, "within", 0],
    ["commit", 3, "after", 0],
    ["take", 4, "before", 0],
    ["take", 4, "after", 0],
    ["settle", 3, "after", 0],
    ["prune", 1, "after", 0],
    ["announce", 5, "before", 0],
    ["settle", STEPS + 1, "before", 0],
  ])(
    "%s %i, %s it: learns each batch once, and plays no committed episode again",
    async (operation, nth, when, repeated) => {
      const expected = await whole;
      const first = await live({ openStore: dying(operation, nth, when) });
      expect(first.error).toMatchObject({ code: "ENGINE_EXITED" });
      const second = await live({ resume: first.directory });
      expect(second.error).toBeUndefined();
      expect(weights(second)).toEqual(weights(expected));
      expect(metrics(second)).toEqual(metrics(expected));
      expect(query(second, BATCHES)).toEqual(query(expected, BATCHES));
      expect(query(second, "SELECT state, COUNT(*) AS steps FROM steps GROUP BY state")).toEqual([
        { state: "applied", steps: STEPS },
      ]);
      // No row is deleted, and none is there twice.
      expect(first.keys.length + second.keys.length).toBe(expected.keys.length + repeated);
      expect(new Set([...first.keys, ...second.keys])).toEqual(new Set(expected.keys));
    },
  );

  test("continues from an earlier checkpoint without playing again, and deletes no row", async () => {
    const expected = await whole;
    const before = query(expected, "SELECT COUNT(*) AS episodes FROM episodes")[0];
    const again = await live({ resume: join(expected.directory, "checkpoints", "00000003-0") });
    expect([again.error, again.keys]).toEqual([undefined, []]);
    expect(query(expected, "SELECT COUNT(*) AS episodes FROM episodes")[0]).toEqual(before);
    expect(query(expected, "SELECT step FROM steps WHERE replays = 1 ORDER BY step")).toEqual([
      { step: 4 },
      { step: 5 },
    ]);
  });
});

/** Returns an engine whose weights have other checksums. */
function otherMachine(): Engine {
  return new Proxy(new BigramEngine() as Engine, {
    get: (target, name: keyof Engine) =>
      name === "publish"
        ? async (model: string) => {
            const result = await target.publish(model);
            return { ...result, checksum: `${result.checksum}-other` };
          }
        : target[name].bind(target),
  });
}

test("batches that other weights played are abandoned, with all later ones, and played anew", async () => {
  const expected = await whole;
  const first = await live({ openStore: dying("settle", STEPS, "before") });
  const second = await live({ resume: first.directory, engine: otherMachine() });
  // The checkpoint of step 3 has published its weights, so the batch of step 4 is the logged one.
  expect(second.error).toBeUndefined();
  expect(second.keys).toHaveLength(EPISODES);
  expect(query(second, "SELECT step, state FROM steps ORDER BY key")).toEqual([
    ...[1, 2, 3, 4].map((step) => ({ step, state: "applied" })),
    { step: 5, state: "abandoned" },
    { step: 5, state: "applied" },
  ]);
  expect(query(second, BATCHES)).toEqual(query(expected, BATCHES));
});

describe("faults of a store or of an algorithm", () => {
  test("a batch taken twice is refused when its credits are stored", async () => {
    let earlier: TakenBatch | undefined;
    const repeating = async (settings: StoreSettings): Promise<EpisodeStore> => {
      const store = await openLocalStore(settings);
      return Object.assign(Object.create(store) as EpisodeStore, {
        async commit(...args: Parameters<EpisodeStore["commit"]>) {
          const taken = await store.commit(...args);
          if (typeof taken === "string") return taken;
          const returned = earlier ?? taken;
          earlier = taken;
          return returned;
        },
        close: () => store.close(),
      });
    };
    expect((await live({ openStore: repeating })).error).toMatchObject({
      code: "STORE_CONFLICT",
      message: expect.stringContaining("Batch 2"),
    });
  });

  test("a store that cannot log a batch ends the run before the batch is learnt from", async () => {
    const full = new MrlmError("STORE_FAILED", "no space");
    const failing = async (settings: StoreSettings): Promise<EpisodeStore> => {
      const store = await openLocalStore(settings);
      const take: EpisodeStore["take"] = (...args) => (args[1].step === 3 ? Promise.reject(full) : store.take(...args));
      return Object.assign(Object.create(store) as EpisodeStore, { take, close: () => store.close() });
    };
    const first = await live({ openStore: failing });
    expect(first.error).toMatchObject({ code: "STORE_FAILED", hint: expect.stringContaining("--resume") });
    expect(metrics(first)).toHaveLength(2);
    const second = await live({ resume: first.directory });
    expect(weights(second)).toEqual(weights(await whole));
  });

  test("the store of another run is refused; a run that was renamed has its own", async () => {
    const [one, other] = [await live({ openStore: dying("settle", 4, "before") }), await whole];
    const renamed = `${one.directory}-renamed`;
    renameSync(one.directory, renamed);
    const aside = join(renamed, "own.sqlite");
    renameSync(join(renamed, STORE_FILE), aside);
    copyFileSync(join(other.directory, STORE_FILE), join(renamed, STORE_FILE));
    await expect(live({ resume: renamed })).rejects.toMatchObject({ code: "STORE_INVALID" });
    renameSync(aside, join(renamed, STORE_FILE));
    const resumed = await live({ resume: renamed });
    expect(weights(resumed)).toEqual(weights(other));
  });
});

describe("a store", () => {
  const tokens = (run: Lived): unknown[] =>
    query(
      run,
      "SELECT cohorts.run_step AS step, COUNT(segments.tokens) AS kept FROM segments JOIN episodes ON episodes.key = segments.episode JOIN cohorts ON cohorts.key = episodes.cohort GROUP BY 1 ORDER BY 1",
    ).map(({ step, kept }) => `${String(step)}: ${String(kept)}`);

  test("keeps all tokens of the last steps; output.trajectories: false, none that a kept checkpoint holds", async () => {
    const each = (steps: readonly number[], kept: number) => steps.map((step) => `${step}: ${kept}`);
    expect(tokens(await whole)).toEqual(each([1, 2, 3, 4, 5], EPISODES));
    const short = await live({ config: { ...RUN, store: { keep_tokens: 1 }, checkpoint: { every: 1, keep: 2 } } });
    expect(tokens(short)).toEqual([...each([1, 2, 3], 0), ...each([4, 5], EPISODES)]);
    const config = { ...RUN, checkpoint: { every: 2, keep: 1 } };
    const none = { ...config, output: { directory: short.directory, trajectories: false } };
    const bare = await live({ config: none });
    expect(tokens(bare)).toEqual(each([1, 2, 3, 4, 5], 0));
    expect(query(bare, "SELECT COUNT(*) AS groups FROM batches")).toEqual([{ groups: 2 * STEPS }]);
    const first = await live({
      config: { ...none, output: { ...none.output, directory: bare.directory } },
      openStore: dying("settle", 4, "before"),
    });
    const second = await live({ config: none, resume: first.directory });
    expect([second.error, weights(second)]).toEqual([undefined, weights(bare)]);
  });

  test.each([
    ["a resume", () => undefined],
    ["a resume without run.json", (directory: string) => rmSync(join(directory, "run.json"))],
  ])(
    "has the rows of metrics.jsonl, the published weights and the evaluations, each once after %s",
    async (_, lose) => {
      const config = { ...RUN, eval: { tasks: 2, every: 3 } };
      const expected = await live({ config, openStore: openEpisodeStore });
      const first = await live({ config, openStore: dying("record", 6, "before") });
      expect(first.error).toBeDefined();
      lose(first.directory);
      const second = await live({ config, resume: first.directory });
      for (const sql of [
        "SELECT step, content ->> 'kind' AS kind, content ->> 'iteration' AS iteration FROM metrics ORDER BY key",
        "SELECT cohorts.stage, cohorts.run_step, COUNT(*) AS episodes FROM cohorts JOIN episodes ON episodes.cohort = cohorts.key WHERE purpose = 'eval' AND state = 'committed' GROUP BY 1, 2 ORDER BY 2, 1",
        "SELECT DISTINCT policy, version, step, checksum FROM weights ORDER BY version",
      ])
        expect(query(second, sql)).toEqual(query(expected, sql));
      const rows = new MetricsFile(join(second.directory, "metrics.jsonl")).rows();
      expect(
        query(second, "SELECT content FROM metrics ORDER BY key").map(({ content }) => JSON.parse(String(content))),
      ).toEqual(rows);
    },
  );
});
