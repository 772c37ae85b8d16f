import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

/** Program that imports a module and prints the URL of every module that was loaded with it. */
const PROGRAM = `
  const { registerHooks } = await import("node:module");
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  await import(process.argv[1]);
  console.log(JSON.stringify(loaded));`;

async function loadedBy(entry: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=mrlm-source", "--input-type=module", "--eval", PROGRAM, entry],
    { cwd: import.meta.dirname },
  );
  return JSON.parse(stdout) as string[];
}

const grpc = expect.arrayContaining([expect.stringMatching(/@grpc\/grpc-js|core\/wire\//)]);

test("@mrlm/server/sessions loads no gRPC; @mrlm/server does", async () => {
  const [sessions, server] = await Promise.all([loadedBy("@mrlm/server/sessions"), loadedBy("@mrlm/server")]);
  expect(sessions).toContainEqual(expect.stringMatching(/session-table\.ts$/));
  expect(sessions).not.toEqual(grpc);
  expect(server).toEqual(grpc);
});
