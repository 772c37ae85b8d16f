import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startChatServer } from "@mrlm/testing";
import { COMMAND, Mrlm, run } from "../e2e/support/mrlm.ts";

/** Serves `nim@1` in a protocol, and uses the server. */
async function serving(dialect: string, use: (url: string) => Promise<void>): Promise<void> {
  const server = new Mrlm([
    ...["serve", "--environments", "nim", "--port", "0"],
    ...["--http-port", "0", "--dialects", dialect, "--json"],
  ]);
  try {
    const { http } = await server.event(({ event }) => event === "listening");
    await use(`http://${String(http)}`);
  } finally {
    server.child.kill();
    await server.finished;
  }
}

/** Programs of the rows whose right column is a command. */
export const commands = {
  /** `mrlm train`, `serve`, `eval`, `collect` and `info` exist; `info` describes this project. */
  ofMrlm: async (): Promise<void> => {
    const names = ["train", "serve", "eval", "collect"];
    const [info, ...helps] = await Promise.all([
      run(["info", "--json"]),
      ...names.map((name) => run([name, "--help"])),
    ]);
    assert.equal(info.code, 0);
    helps.forEach(({ code, stdout }, i) => assert(code === 0 && stdout.includes(`mrlm ${names[i]}`)));
  },

  /** `mrlm create environment NAME` makes a project. */
  create: async (): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), "mrlm-migrating-"));
    try {
      // Rejects with the output for another exit code than 0.
      await promisify(execFile)(process.execPath, [COMMAND, "create", "environment", "chess"], { cwd: folder });
      assert(existsSync(join(folder, "chess", "package.json")));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },

  /** `mrlm check` checks a plugin. */
  check: async (): Promise<void> => {
    const { code, stdout } = await run(["check", "environments/nim", "--quick"]);
    assert.equal(code, 0);
    assert.match(stdout, /no findings/);
  },

  /** `mrlm serve --http-port PORT --dialects mcp` offers an environment to MCP clients. */
  serveMcp: () =>
    serving("mcp", async (url) => {
      const response = await fetch(`${url}/mcp`, { method: "POST", body: "{}" });
      assert.equal(response.status, 400);
      assert.equal(((await response.json()) as { jsonrpc: string }).jsonrpc, "2.0");
    }),

  /** `mrlm serve --http-port PORT --dialects ors` offers an environment to clients of ORS. */
  serveOrs: () =>
    serving("ors", async (url) => {
      const response = await fetch(`${url}/list_environments`);
      assert.equal(await response.text(), JSON.stringify(["nim@1"]));
    }),

  /** `mrlm eval --model openai:MODEL --environment ENV -n 20 --samples 3` measures a model behind an endpoint. */
  evalEndpoint: async (): Promise<void> => {
    const server = await startChatServer(() => "7");
    const flags = ["--environment", "math", "-n", "20", "--samples", "3", "--base-url", server.baseUrl, "--json"];
    const { code, events, stderr } = await run(["eval", "--model", "openai:tiny", ...flags]);
    await server.close();
    assert.equal(code, 0, stderr);
    assert(
      events.some(({ event }) => event === "evaluation"),
      JSON.stringify(events.at(-1)),
    );
  },
} as const;
