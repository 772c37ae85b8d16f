import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const SCRIPT = fileURLToPath(new URL("support/blocking-process.ts", import.meta.url));

test("an environment that never yields ends its process, which reports the environment and the phase", () => {
  const { signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=mrlm-source", "--no-warnings", SCRIPT, "500"],
    { encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } },
  );
  expect([signal, stderr]).toEqual([
    "SIGKILL",
    expect.stringMatching(
      /^error DEADLINE_EXCEEDED: Environment endless@1 has blocked its process for \d+ s in its step phase, whose deadline is 0\.2 s/,
    ),
  ]);
  expect(JSON.parse(stdout)).toMatchObject({
    event: "blocked",
    code: "DEADLINE_EXCEEDED",
    message: expect.stringContaining("endless@1"),
    hint: expect.stringContaining("endless loop"),
  });
}, 60_000);
