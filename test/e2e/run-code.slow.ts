import { expect, test } from "@jest/globals";
import { Mrlm } from "./support/mrlm.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("mrlm serve runs programs of /run_code in its sandboxes, 64 at once, and reads no file of the machine", async () => {
  const server = new Mrlm([
    ...["serve", "--environments", "math", "--port", "0", "--http-port", "0", "--json"],
    ...["--http-port", "math=0", "--dialects", "ors,sandbox-fusion"],
  ]);
  const { http, httpByEnvironment } = await server.event(({ event }) => event === "listening");
  const run = async (body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`http://${http as string}/run_code`, { method: "POST", body: JSON.stringify(body) });
    return { http: response.status, ...((await response.json()) as object) };
  };
  const python = (code: string, more: object = {}) => run({ language: "python", code, ...more });
  const squares = await Promise.all(
    Array.from({ length: 64 }, (_, i) => python("print(int(input()) ** 2)", { stdin: `${i}\n` })),
  );
  expect(squares.map(({ run_result: result }) => (result as { stdout: string }).stdout)).toEqual(
    Array.from({ length: 64 }, (_, i) => `${i * i}\n`),
  );
  expect(
    await Promise.all([
      python("import sys\nprint('a')\nsys.exit(3)"),
      python("1 / 0"),
      python("while True: pass", { run_timeout: 0.5 }),
      python("open('d/out', 'w').write(open('d/in').read() * 2)", {
        files: { "d/in": base64("é") },
        fetch_files: ["d/out"],
      }),
      python("import os\nos.symlink('/etc/hostname', 'link')", { fetch_files: ["link"] }),
      run({ language: "nodejs", code: "console.log(require('fs').readFileSync(0, 'utf8').trim())", stdin: "in\n" }),
      run({ language: "typescript", code: "const n: number = 41;\nconsole.log(n + 1)" }),
      run({ language: "cpp", code: "" }),
    ]),
  ).toMatchObject([
    { http: 200, status: "Failed", run_result: { status: "Finished", return_code: 3, stdout: "a\n" } },
    { status: "Failed", run_result: { return_code: 1, stderr: expect.stringContaining("ZeroDivisionError") } },
    { status: "Failed", run_result: { status: "TimeLimitExceeded", return_code: null } },
    { status: "Success", files: { "d/out": base64("éé") } },
    { status: "Success", files: {}, message: expect.stringContaining("link") },
    { status: "Success", run_result: { stdout: "in\n" } },
    { status: "Success", run_result: { stdout: "42\n" } },
    { http: 200, status: "SandboxError", message: expect.stringContaining("python, nodejs") },
  ]);
  const own = (httpByEnvironment as Record<string, string>)["math@2"] as string;
  const splits = await (await fetch(`http://${own}/splits`)).json();
  expect(splits).toContainEqual({ name: "train", type: "train" });
  server.child.kill("SIGTERM");
  expect(await server.finished).toMatchObject({ code: 0, signal: null });
});
