import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { readRewards } from "../../environments/harbor/src/grade/reward.ts";
import { readTask } from "../../environments/harbor/src/task/task.ts";
import { BROKEN_TASKS } from "../../environments/harbor/test/support/broken-tasks.ts";
import { taskFolder } from "../../environments/harbor/test/support/task-folder.ts";
import { ROOT } from "../e2e/support/mrlm.ts";
import { testPeer } from "./support/peer-python.ts";

const HARBOR = { folder: "test/interop/harbor", program: "check.py", python: "3.12" };

interface Answer {
  readonly folders: readonly { readonly instruction?: string; readonly error?: string }[];
  readonly rewards: readonly (Readonly<Record<string, number | boolean>> | number | null)[];
}

const TASKS = join(ROOT, "examples/harbor/tasks");

/** Keys of task.toml, each of which gets values of all kinds. */
const KEYS = (
  "schema_version version task.name agent.timeout_sec agent.user agent.network_mode verifier.timeout_sec verifier.env verifier.env.A verifier.user " +
  "verifier.environment_mode verifier.network_mode environment.build_timeout_sec environment.docker_image environment.os environment.cpus environment.memory_mb " +
  "environment.storage_mb environment.memory environment.storage environment.gpus environment.env.A environment.workdir environment.network_mode " +
  "environment.allowed_hosts environment.mcp_servers environment.healthcheck solution.env solution.env.A steps multi_step_reward_strategy artifacts metadata"
).split(" ");
const VALUES = [
  '"x"',
  '""',
  '"1.0"',
  '"a/b"',
  "-1",
  "0",
  "1",
  "1.5",
  "true",
  "[]",
  '["a"]',
  "[1]",
  "{}",
  "{ a = 1 }",
  '{ a = "b" }',
  "inf",
  "nan",
];

/** Values that Harbor converts or takes without a use, and that are refused here. */
const STRICTER =
  /must be version 1|must be an absolute path|(Too small|Invalid input): expected|which a workspace of this machine does not have/;

const REWARDS = [
  ...["1\n", " -.5e1 ", "0.25", "+.5", "", "1 2", "nan", "inf", "1e999", "0x1", "true"].map((text) => ({ text })),
  ...[
    '{"reward": 0.25, "style": 1}',
    '{"passed": true}',
    "{}",
    "",
    "NaN",
    '{"reward": "1"}',
    '{"reward": 1e999}',
    '{"reward": null}',
    "[1, [2]]",
  ].map((json) => ({ json })),
];

await testPeer("Harbor reads our tasks, and what it refuses is refused here", HARBOR, async (play) => {
  const scratch = mkdtempSync(join(tmpdir(), "mrlm-harbor-"));
  const own = readdirSync(TASKS).map((name) => join(TASKS, name));
  const written = [
    ...BROKEN_TASKS.map(([files]) => taskFolder(files)),
    ...KEYS.flatMap((key) => VALUES.map((value) => taskFolder({ "task.toml": `${key} = ${value}\n` }))),
  ];
  try {
    const folders = [...own, ...written.map(({ folder }) => folder)];
    const given = join(scratch, "given.json");
    writeFileSync(given, JSON.stringify({ folders, rewards: REWARDS }));
    const answer = (await play(given)) as Answer;
    for (const [index, folder] of own.entries())
      expect(answer.folders[index]).toEqual({ instruction: (await readTask(folder)).steps[0].instruction });

    for (const [index, folder] of folders.entries()) {
      const there = answer.folders[index]?.error;
      const here = await readTask(folder).then(
        () => undefined,
        (error: Error) => error.message,
      );
      const text =
        index < own.length + BROKEN_TASKS.length ? folder : await readFile(join(folder, "task.toml"), "utf8");
      if (there !== undefined) expect([text, there, here]).toEqual([text, there, expect.any(String)]);
      else if (here !== undefined && text !== folder)
        expect([text, here]).toEqual([text, expect.stringMatching(STRICTER)]);
    }

    for (const [index, files] of REWARDS.entries()) {
      const bytes = (name: "text" | "json"): Uint8Array | undefined =>
        name in files ? new TextEncoder().encode((files as Record<string, string>)[name]) : undefined;
      const read = readRewards({ text: bytes("text"), json: bytes("json") });
      // A list without names is no reward here, and `true` is 1, as Python computes with it.
      const theirs = answer.rewards[index];
      const named = typeof theirs === "object" && theirs !== null && !Array.isArray(theirs);
      expect([files, typeof read === "string" ? null : read]).toEqual([
        files,
        named ? Object.fromEntries(Object.entries(theirs).map(([name, value]) => [name, Number(value)])) : null,
      ]);
    }
  } finally {
    for (const { remove } of written) remove();
    rmSync(scratch, { recursive: true });
  }
});
