import { expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { grpo } from "@mrlm/grpo";
import { MrlmError } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { BigramEngine, trainBigram } from "@mrlm/testing";
import { Mrlm, ROOT } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const directory = temporaryDirectory();
const training = { algorithms: [grpo], stages: [{ algorithm: "grpo", steps: 5, prompts_per_step: 4, group_size: 4 }] };

const canMakeReadOnly = spawnSync("bwrap", ["--dev-bind", "/", "/", "--ro-bind", ROOT, ROOT, "true"]).status === 0;

/** Faults of a store; `path` is that of a run with three steps. */
const faults: readonly (readonly [
  name: string,
  prepare: (path: string) => (() => void) | void,
  code: string,
  message: RegExp,
])[] = [
  ["truncated", (path) => truncateSync(path, statSync(path).size / 2), "STORE_INVALID", /is damaged/],
  [
    "of another run",
    (path) => edit(path, "UPDATE meta SET value = 'elsewhere' WHERE key = 'run'"),
    "STORE_INVALID",
    /belongs to run elsewhere/,
  ],
  [
    "of a newer schema",
    (path) => edit(path, "UPDATE meta SET value = '999' WHERE key = 'schema'"),
    "STORE_INVALID",
    /has schema 999/,
  ],
  ["another file", (path) => writeFileSync(path, "episodes ".repeat(1_000)), "STORE_INVALID", /is damaged/],
  ["missing", (path) => rmSync(path), "STORE_INVALID", /is missing/],
  [
    "of an earlier time",
    (path) => edit(path, "DELETE FROM steps WHERE step > 2"),
    "STORE_INVALID",
    /lacks batch 3 of learner 0\/policy/,
  ],
  ["locked by another process", lock, "STORE_FAILED", /stayed locked by another process/],
  ...(canMakeReadOnly ? [["read-only", () => undefined, "STORE_FAILED", /cannot be written/] as const] : []),
];

test(`${faults.length} faults of a store file: --resume refuses them before any process starts, and loses nothing; it resumes without run.json (read-only: skipped without bubblewrap)`, async () => {
  const alone = await trainBigram({ ...training, config: { output: join(directory, "alone") } });
  const output = join(directory, "runs");
  await expect(trainBigram({ ...training, engine: mortalEngine(4), config: { output } })).rejects.toMatchObject({
    code: "ENGINE_EXITED",
  });
  const run = join(output, readdirSync(output)[0] as string);
  const tried = faults.map(async ([name, prepare, code, message]) => {
    const copy = join(directory, name);
    cpSync(run, copy, { recursive: true });
    const store = join(copy, "episodes.sqlite");
    const release = prepare(store);
    const before = hashesIn(copy);
    const jail = name === "read-only" ? ["bwrap", "--dev-bind", "/", "/", "--ro-bind", store, store, "--"] : [];
    const { code: exitCode, events } = await new Mrlm(["train", "--json", "--resume", copy], {}, ROOT, jail).finished;
    release?.();
    const error = events.find(({ event }) => event === "error");
    expect({
      name,
      exitCode,
      error,
      starts: events.filter(({ event }) => event === "process"),
      files: hashesIn(copy),
    }).toEqual({
      name,
      exitCode: code === "STORE_INVALID" ? 2 : 1,
      error: expect.objectContaining({
        code,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(/\w{4}/),
      }),
      starts: [],
      files: before,
    });
    expect(error?.["message"]).toContain(store);
  });
  await Promise.all(tried);
  rmSync(join(run, "run.json"));
  expect((await trainBigram({ ...training, resume: run })).weights).toEqual(alone.weights);
});

function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec(sql);
  database.close();
}

/** Holds the lock of a writer until the returned function is called. */
function lock(path: string): () => void {
  const database = new DatabaseSync(path);
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}

/** SHA-256 of every file but the store's, which SQLite may write again with the same rows. */
function hashesIn(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !file.includes("episodes.sqlite"))
      .map((file) => [file, createHash("sha256").update(readFileSync(file)).digest("hex")]),
  );
}

function mortalEngine(dieAt: number): Engine {
  let steps = 0;
  return new Proxy<Engine>(new BigramEngine(), {
    get: (target, property: keyof Engine) =>
      property === "optimStep"
        ? (options: Parameters<Engine["optimStep"]>[0]) =>
            ++steps === dieAt
              ? Promise.reject(new MrlmError("ENGINE_EXITED", "The engine was killed."))
              : target.optimStep(options)
        : target[property].bind(target),
  });
}
