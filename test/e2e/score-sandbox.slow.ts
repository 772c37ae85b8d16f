import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { startChatServer } from "@mrlm/testing";
import { run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();

/** Returns a search path on which bubblewrap does not work, as on a machine that allows no namespaces. */
function pathWithoutJail(): string {
  const programs = join(folder, "programs");
  mkdirSync(programs);
  writeFileSync(join(programs, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  return `${programs}:${process.env["PATH"]}`;
}

const isJailed = spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;
const testJailed = isJailed ? test : test.skip;

testJailed(
  "R26: episodes with code are scored again without bubblewrap, or not at all where their sandbox needs it (skipped without it)",
  async () => {
    const server = await startChatServer(() => "```python\ndef f(x):\n    return x\n```");
    const config = join(folder, "run.yaml");
    const evaluated = async (kind: string): Promise<string> => {
      writeFileSync(
        config,
        JSON.stringify({
          models: { m: { model: "openai:m", base_url: server.baseUrl, options: { max_retries: 0 } } },
          eval: { tasks: 2, samples: 0, environments: [{ id: "code", options: { language: "python", attempts: 1 } }] },
          plugins: { "@mrlm/sandbox-python": { kind } },
          output: join(folder, kind),
        }),
      );
      const { code, stderr, events } = await run(["eval", "--json", "--config", config]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      return events.find(({ event }) => event === "summary")?.["directory"] as string;
    };
    const [auto, native] = [await evaluated("auto"), await evaluated("native")];
    await server.close();
    const PATH = pathWithoutJail();
    const again = async (directory: string) => {
      const { code, events } = await run(["score", "--json", "--run", directory], { PATH });
      return { code, outcomes: events.map(({ outcome }) => outcome).filter(Boolean), last: events.slice(-2) };
    };
    // The kind `auto` has another sandbox where there is no jail.
    expect(await again(auto)).toMatchObject({
      code: 0,
      outcomes: ["equal", "equal"],
      last: [{}, { equal: 2, lost: 0 }],
    });
    expect(await again(native)).toMatchObject({
      ...{ code: 1, outcomes: ["lost", "lost"] },
      last: [
        { equal: 0, differ: 0, lost: 2 },
        { code: "SANDBOX_FAILED", hint: expect.stringContaining("bubblewrap") },
      ],
    });
  },
  600_000,
);
