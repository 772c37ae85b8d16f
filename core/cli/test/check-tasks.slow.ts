import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { silentLogger } from "@mrlm/kit/service";
import { checkTasks, hasTasks } from "../src/services/check-tasks.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TEMPLATE = join(ROOT, "templates", "harbor-task");
const hasJail = await import("@mrlm/sandbox").then(({ LocalWorkspaces }) =>
  LocalWorkspaces.make().then(
    async (made) => made.close().then(() => true),
    () => false,
  ),
);

/** Checks the task of the template with other files. Returns code and message of each finding. */
async function findingsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "tasks-"));
  try {
    cpSync(TEMPLATE, folder, { recursive: true });
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    expect(hasTasks(folder)).toBe(true);
    const { findings } = await checkTasks(folder, {
      directory: ROOT,
      logger: silentLogger,
      signal: new AbortController().signal,
      onTask: () => undefined,
    });
    return findings.map(({ code, message }) => `${code} ${message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const TOTALS = "abel,7\nmona,7\nzoe,1\n";
const played = hasJail ? test : test.skip;

played.each<[string, Readonly<Record<string, string>>, RegExp[]]>([
  ["the template", {}, []],
  [
    "a wrong solution",
    { "solution/solve.sh": "#!/bin/sh\necho no > totals.csv\n" },
    [/^FIXTURE_REWARD The worked solution earns 0, not 1\./],
  ],
  [
    "tests that pass before",
    { "tests/test.sh": "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n" },
    [
      /^FIXTURE_REWARD No action earns 1, not 0\./,
      ...Array.from({ length: 4 }, () => /^STRATEGY_PAYS .* earns 1, not 0\./),
    ],
  ],
  [
    "an expected result in the image",
    {
      "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\nCOPY . .\n",
      "environment/expected.csv": `${TOTALS}# sums\n`,
      "tests/totals.csv": `${TOTALS}# sums\n`,
    },
    [/^FIXTURE_REWARD The worked/, /^TASK_PRIVATE_SHOWN The policy can read tests\/totals\.csv/],
  ],
  [
    "tests that load modules of the policy",
    {
      "tests/test.sh": `#!/bin/sh\npython3 -c 'import json; exit(open("totals.csv").read() != open("/tests/totals.csv").read())' && reward=1 || reward=0\necho $reward > /logs/verifier/reward.txt\n`,
    },
    [/^STRATEGY_PAYS A program that solves nothing and leaves modules of Python earns 1, not 0\./],
  ],
  [
    "tests that differ between runs",
    {
      "tests/test.sh": `#!/bin/sh\ncmp -s totals.csv /tests/totals.csv && reward=0.$(date +%N) || reward=0\necho $reward > /logs/verifier/reward.txt\n`,
    },
    [/^FIXTURE_REWARD The worked/, /^FIXTURE_DETERMINISM The worked solution earns 0\.\d+, then 0\.\d+\./],
  ],
])(
  "%s",
  async (_, files, expected) => {
    const found = await findingsOf(files);
    expect(found).toHaveLength(expected.length);
    for (const [at, pattern] of expected.entries()) expect(found[at]).toMatch(pattern);
  },
  120_000,
);

test("a malformed task is refused before anything runs", async () => {
  await expect(findingsOf({ "task.toml": "[agent]\ntimeout_sec = 0\n" })).rejects.toMatchObject({
    code: "DATA_INVALID",
    message: expect.stringMatching(/task\.toml:2: agent\.timeout_sec: /),
  });
}, 60_000);
