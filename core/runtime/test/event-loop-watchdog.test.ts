import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const SCRIPT = fileURLToPath(new URL("support/blocking-process.ts", import.meta.url));

/** Runs a host whose environment never yields, to the end of its process. */
function blocked(form: "text" | "json"): ReturnType<typeof spawnSync> & { stdout: string; stderr: string } {
  return spawnSync(process.execPath, ["--conditions=mrlm-source", "--no-warnings", SCRIPT, "500", form], {
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  });
}

test("an environment that never yields ends its process, which reports the environment and the phase", () => {
  const { signal, stdout, stderr } = blocked("text");
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
});

test("in a log of JSON the report is a line like any other", () => {
  const { stderr } = blocked("json");
  expect(JSON.parse(stderr)).toMatchObject({
    level: "error",
    time: expect.stringMatching(/^\d{4}-/),
    msg: expect.stringContaining("Environment endless@1 has blocked its process"),
    fields: { code: "DEADLINE_EXCEEDED" },
  });
});
