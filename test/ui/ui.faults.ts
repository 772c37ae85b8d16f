// npm run test:faults -- ui: damaged runs, runs that change, large episodes, hostile requests and many readers.
import { cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import { randomStream } from "@mrlm/kit";
import type { RandomStream, TrajectoryGroup } from "@mrlm/spec";
import { STORE_FILE } from "@mrlm/store";
import { duelEnvironment, trainBigram } from "@mrlm/testing";
import { serveUi } from "@mrlm/ui";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { HOSTILE_TEXTS } from "./support/hostile-texts.ts";
import { addGroups, rowsOf, smallRun } from "./support/run-with-episodes.ts";
import { addMembers, editStore } from "./support/run-with-workers.ts";

const SEED = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
console.log(`FAULTS_SEED=${SEED}`);
const DAMAGED = 200;
const MEMBERS = 400;
const READERS = 1_000;
const REQUESTS = 300;
const TURNS = 200;
const TOKENS = 100_000;
/** Statuses of an answer, of a refusal with its reason, and of a store that cannot be read. */
const ANSWERED = [200, 400, 404, 500, 503];

const folder = temporaryDirectory();
let server: Awaited<ReturnType<typeof serveUi>>;
let whole: string;
let episode: number;

beforeAll(async () => {
  whole = await smallRun(folder, "whole", 3);
  [[episode]] = rowsOf(whole, "SELECT episode_key FROM v_episodes LIMIT 1") as [[number]];
  server = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
}, 60_000);
afterAll(() => server?.close());

const nameOf = (directory: string): string => directory.split("/").at(-1) as string;

interface Answer {
  readonly status: number;
  readonly body: string;
}

function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) =>
    httpRequest({ port: server.port, host: "127.0.0.1", path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("latin1") }),
      );
    })
      .on("error", reject)
      .end(),
  );
}

/** Reads everything of a run. Returns the answers that are neither an answer nor an error with a code. */
async function unexplained(run: string): Promise<string[]> {
  const base = `/api/runs/${encodeURIComponent(run)}`;
  const one = `${base}/episodes/${episode}`;
  const paths = ["/api/runs", base, `${base}/metrics`, `${base}/config`, `${base}/choices`, `${base}/episodes`].concat([
    `${base}/workers`,
    `${base}/episodes?sort=-reward&role=agent`,
    one,
    `${one}/tokens`,
    `${one}/texts`,
  ]);
  const found: string[] = [];
  for (const path of paths) {
    const { status, body } = await get(path);
    const isExplained = status === 200 || /"code":"[A-Z_]+"/.test(body);
    if (!ANSWERED.includes(status) || !isExplained || body.includes('"INTERNAL"'))
      found.push(`${path}: ${status} ${body.slice(0, 300)}`);
  }
  return found;
}

/** Damages a file: cuts it, changes bytes of it, or removes it. */
function damage(path: string, random: RandomStream): void {
  const { size } = statSync(path);
  const way = random.integer(0, 4);
  if (way === 0) return rmSync(path);
  if (way === 1) return truncateSync(path, random.integer(0, size));
  const bytes = readFileSync(path);
  for (let count = random.integer(1, 50); count > 0 && bytes.length > 0; count--)
    bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255);
  writeFileSync(path, bytes);
}

test(`${DAMAGED} runs with a damaged file are answered, or refused with a code`, async () => {
  const random = randomStream("damaged", SEED);
  const files = [STORE_FILE, STORE_FILE, STORE_FILE, "metrics.jsonl", "run.json", "config.yaml"];
  const found: string[] = [];
  for (let i = 0; i < DAMAGED; i++) {
    const copy = join(folder, `damaged-${i}`);
    cpSync(whole, copy, { recursive: true });
    const file = random.pick(files);
    damage(join(copy, file), random);
    // The search for runs is used again for two seconds.
    const other = await serveUi({ directories: [copy], address: "127.0.0.1:0" });
    const before = server;
    server = other;
    found.push(...(await unexplained(nameOf(copy))).map((each) => `${file} ${each}`));
    server = before;
    await other.close();
    rmSync(copy, { recursive: true });
  }
  expect(found).toEqual([]);
}, 600_000);

test("2 stores, one locked by another process and one of another schema, are answered or refused with a code", async () => {
  const copy = join(folder, "locked");
  cpSync(whole, copy, { recursive: true });
  const database = new DatabaseSync(join(copy, STORE_FILE));
  database.exec("BEGIN EXCLUSIVE");
  await searched("locked");
  expect(await unexplained("locked")).toEqual([]);
  database.exec("ROLLBACK; UPDATE meta SET value = '99' WHERE key = 'schema'");
  database.close();
  expect(await unexplained("locked")).toEqual([]);
  expect((await get("/api/runs/locked/episodes")).body).toMatch(/"code":"STORE_/);
}, 120_000);

test("3 runs, of several policies, of one iteration and one that has only begun, are answered", async () => {
  const policies = Object.fromEntries(
    [1, 2].map((seed) => [
      `p${seed}`,
      { random: { config: {}, tokenizer: { characters: { alphabet: "abcd0123456789" } }, seed } },
    ]),
  );
  const learner = { algorithm: "grpo", prompts_per_step: 2, group_size: 2, steps: 2, learning_rate: 0.5 };
  const { summary } = await trainBigram({
    algorithms: [grpo],
    environments: [duelEnvironment({ rounds: 1 })],
    stages: [{ learners: { p1: learner, p2: learner } }],
    config: {
      name: "several",
      output: folder,
      model: undefined as never,
      policies,
      environments: [{ id: "duel", players: { first: "p1", second: "p2" } }],
      eval: { tasks: 0 },
    },
  });
  const one = await smallRun(folder, "one", 1);
  const begun = join(folder, "begun");
  cpSync(one, begun, { recursive: true });
  for (const name of ["metrics.jsonl", STORE_FILE]) rmSync(join(begun, name), { force: true });
  for (const name of [nameOf(summary.directory), nameOf(one), "begun"]) {
    await searched(name);
    expect([name, await unexplained(name)]).toEqual([name, []]);
  }
  const { body } = await get(`/api/runs/${encodeURIComponent(nameOf(summary.directory))}/episodes`);
  for (const policy of ["p1", "p2"]) expect(body.slice(600)).toContain(`"${policy}"`);
}, 120_000);

/** Waits until a run is found. */
async function searched(run: string): Promise<void> {
  while ((await get(`/api/runs/${run}`)).status === 404) await new Promise((resolve) => setTimeout(resolve, 100));
}

test("20 runs that are deleted while they are read are answered, or refused with a code", async () => {
  for (let i = 0; i < 20; i++) {
    const copy = join(folder, `gone-${i}`);
    cpSync(whole, copy, { recursive: true });
    await searched(`gone-${i}`);
    const reads = [unexplained(`gone-${i}`), unexplained(`gone-${i}`)];
    rmSync(copy, { recursive: true });
    expect((await Promise.all(reads)).flat()).toEqual([]);
  }
}, 120_000);

test(`${MEMBERS} rows of members and leases with hostile texts and damaged values are answered beside whole ones`, async () => {
  const random = randomStream("members", SEED);
  const copy = join(folder, "members");
  cpSync(whole, copy, { recursive: true });
  await addMembers(copy, [{ id: "whole", kind: "rollouts", capabilities: { concurrency: 4 } }]);
  const text = (): string => random.pick([random.pick(HOSTILE_TEXTS), "", "x".repeat(random.integer(1, 200_000))]);
  const json = (): string =>
    random.pick([
      "{",
      "null",
      "7",
      '"text"',
      "[".repeat(5_000),
      '{"__proto__":{"x":1}}',
      JSON.stringify({ a: text() }),
    ]);
  const time = (): number | bigint =>
    random.pick([0, -1, Date.now() + 1e9, 2n ** 63n - 1n, -(2n ** 63n), BigInt(Date.now()) * 1_000n]);
  await searched("members");
  const found: string[] = [];
  for (let i = 0; i < MEMBERS; i++) {
    const database = new DatabaseSync(join(copy, STORE_FILE));
    database
      .prepare("INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?, ?)")
      .run(text(), text(), random.pick([null, text()]), json(), time(), time());
    database
      .prepare(
        "UPDATE cohorts SET state = 'leased', leased_by = ?, leased_until = ?, attempt = ?, stage = ? WHERE key = 1",
      )
      .run(text(), random.pick([null, time()]), time(), text());
    database.close();
    const { status, body } = await get("/api/runs/members/workers");
    if (status !== 200 || !body.includes('"id":"whole"')) found.push(`${i}: ${status} ${body.slice(0, 300)}`);
    if (i % 100 === 99) editStore(copy, "DELETE FROM members WHERE id <> 'whole'");
  }
  expect(found).toEqual([]);
}, 120_000);

test(`${READERS} readers at the same time are answered, or asked to wait`, async () => {
  const base = `/api/runs/${encodeURIComponent(nameOf(whole))}`;
  const paths = ["/api/runs", base, `${base}/metrics`, `${base}/episodes?sort=reward`];
  const answers = await Promise.all(Array.from({ length: READERS }, (_, i) => get(paths[i % paths.length] as string)));
  const counts = Map.groupBy(answers, ({ status }) => status);
  expect([...counts.keys()].filter((status) => ![200, 503].includes(status))).toEqual([]);
  expect(counts.get(200)?.length).toBeGreaterThan(0);
}, 120_000);

test(`${REQUESTS} hostile hosts, origins and paths are refused`, async () => {
  const random = randomStream("hostile", SEED);
  const found: string[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const word = Array.from({ length: random.integer(1, 12) }, () => random.pick([..."abc.-%/:@[]\\0"])).join("");
    const up = random.pick(["../", "..%2f", "%2e%2e/", "..%5c", "....//"]).repeat(random.integer(1, 8));
    const way = i % 3;
    const { status, body } =
      way === 0
        ? await get("/api/runs", { host: `${word}.example` })
        : way === 1
          ? await get("/api/runs", { origin: `http://${word}.example` })
          : await get(`/api/runs/${up}${random.pick(["etc/passwd", "run.json", "package.json", word])}`);
    // An address outside of the API, which ".." leads to, shows the page.
    const isPage = way === 2 && status === 200 && body.startsWith("<!doctype html>");
    if (!(isPage || [400, 403, 404].includes(status)) || /root:|"dependencies"/.test(body))
      found.push(`${i} ${word} ${up}: ${status} ${body.slice(0, 100)}`);
  }
  expect(found).toEqual([]);
}, 120_000);

test(`2 large episodes, of ${TURNS} turns and of ${TOKENS} tokens, are answered whole`, async () => {
  await addGroups(whole, "evaluation/large", [large("turns", TURNS, 1), large("tokens", 1, TOKENS)]);
  const base = `/api/runs/${encodeURIComponent(nameOf(whole))}/episodes`;
  const keyOf = (id: string): unknown =>
    rowsOf(whole, "SELECT episode_key FROM v_episodes WHERE episode = ?", id)[0]?.[0];
  const { body } = await get(`${base}/${String(keyOf("turns"))}`);
  expect((JSON.parse(body) as { episode: { turns: unknown[] } }).episode.turns).toHaveLength(TURNS);
  const { body: bytes } = await get(`${base}/${String(keyOf("tokens"))}/tokens`);
  expect(bytes.length).toBe(5 * 4 * (TOKENS + 1) + 4 * Math.ceil((TOKENS + 1) / 4));
}, 120_000);

function large(id: string, turns: number, tokens: number): TrajectoryGroup {
  const length = tokens + 1;
  const player = { kind: "policy", name: "policy", policy: "policy", version: 1 } as const;
  const reward = { scored: true, value: 0.5, components: {} } as const;
  const text = (content: string) => [{ type: "text" as const, text: content }];
  return {
    id,
    task: "train/0",
    players: { agent: player },
    trajectories: [
      {
        id,
        environment: "letters@1",
        task: "train/0",
        seed: 1,
        group: id,
        member: 0,
        turns: Array.from({ length: turns }, (_, i) => ({
          agent: "agent",
          messages: [{ role: "user" as const, parts: text(`turn ${i}`) }],
          response: { role: "assistant" as const, parts: text("a".repeat(100)) },
          tokens: { segment: 0, start: 1, end: length },
          stopReason: "stop" as const,
          rewards: { agent: reward },
        })),
        agents: {
          agent: {
            role: "agent",
            player,
            segments: [
              {
                tokens: new Int32Array(length).fill(3),
                logprobs: new Float32Array(length).fill(-0.5),
                mask: Uint8Array.from({ length }, (_, i) => Math.min(1, i)),
                versions: Int32Array.from({ length }, (_, i) => (i === 0 ? -1 : 1)),
                parent: null,
              },
            ],
            total: reward,
            end: { terminated: true, truncated: false },
          },
        },
        seconds: { sampling: 1, environment: 1 },
      },
    ],
  };
}
