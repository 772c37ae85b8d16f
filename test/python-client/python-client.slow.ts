import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { createAuthority } from "@mrlm/testing";
import { describeWithEngine, installed } from "../e2e/support/engine.ts";
import { Mrlm, ROOT } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";

const run = promisify(execFile);
const FOLDER = join(ROOT, "core/client/python");
const directory = temporaryDirectory();

/** Starts a server on a free port and returns its address. */
async function serve(args: readonly string[]): Promise<{ server: Mrlm; address: string }> {
  const server = new Mrlm(["serve", "--port", "0", "--json", ...args]);
  const { address } = await server.event(({ event }) => event === "listening");
  return { server, address: address as string };
}

describeWithEngine(
  "core/client/python, by the Python of the engine (skipped where `npm run setup` has not run)",
  () => {
    test("its tests pass against mrlm serve, in the clear and with TLS and a token", async () => {
      const file = (name: string, content: string): string => {
        writeFileSync(join(directory, name), content);
        return join(directory, name);
      };
      const authority = createAuthority();
      const { cert, key } = authority.issue();
      const config = join(ROOT, "test/python-client/environments/environments.yaml");
      const [open, guarded] = await Promise.all([
        serve(["--environments", "math,tools,nim,relay,outcomes", "--config", config]),
        serve([
          ...["--environments", "math", "--max-sessions", "1", "--max-queue", "0"],
          ...["--token-file", file("tokens", "alice 0123456789abcdef\n")],
          ...["--tls-cert", file("cert", cert), "--tls-key", file("key", key)],
        ]),
      ]);
      try {
        const env = {
          ...process.env,
          MRLM_ADDRESS: open.address,
          MRLM_TLS_ADDRESS: guarded.address,
          MRLM_TLS_CA: file("authority", authority.cert),
          MRLM_TOKEN: "0123456789abcdef",
        };
        const pytest = ["-m", "pytest", "-p", "no:cacheprovider", "--color=no"];
        // A failed test ends pytest with status 1: its report is in the error.
        const report = await run(installed?.executable as string, pytest, { cwd: FOLDER, env }).catch((error) => error);
        expect((report as { readonly stdout: string }).stdout).toMatch(/^\d+ passed in /m);
      } finally {
        for (const { server } of [open, guarded]) server.child.kill("SIGTERM");
        await Promise.all([open.server.finished, guarded.server.finished]);
      }
    }, 120_000);
  },
);
