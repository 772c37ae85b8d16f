import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import { guardedPip, pipRunner, pipWheel } from "../src/pip.ts";
import { runProcess } from "../src/run-process.ts";
import { fakeRun } from "./support/fake-run.ts";
import { machinePython } from "./support/python.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

// pip takes some seconds to start from its wheel, and more where the machine is busy.
jest.setTimeout(120_000);

const root = temporaryDirectory();
const describeWithPython = machinePython === undefined ? describe.skip : describe;

test("the vendored wheel has the checksum that the source names, and a damaged one is refused", () => {
  expect(pipWheel()).toMatch(/vendor.pip-[\d.]+-py3-none-any\.whl$/);
  const damaged = join(root, "pip.whl");
  writeFileSync(damaged, "not pip");
  expect(() => pipWheel(damaged)).toThrow(
    expect.objectContaining({ code: "SETUP_FAILED", message: expect.stringContaining("damaged") }),
  );
});

test("settings that would make pip install elsewhere are left out, the others kept", async () => {
  let seen: NodeJS.ProcessEnv | undefined;
  const pip = pipRunner(
    (command, args, options) => {
      seen = options?.env;
      return fakeRun(() => ({}))(command, args);
    },
    { PIP_TARGET: "/elsewhere", PIP_USER: "1", PIP_INDEX_URL: "https://mirror/simple", HTTPS_PROXY: "http://proxy" },
  );
  await pip("python", ["--version"]);
  expect(seen).toMatchObject({ PIP_USER: "0", PIP_INDEX_URL: "https://mirror/simple", HTTPS_PROXY: "http://proxy" });
  expect(seen).not.toHaveProperty("PIP_TARGET");
});

describeWithPython("pip from its wheel", () => {
  test("runs", async () => {
    const result = await pipRunner(runProcess)(machinePython!.executable, ["--version"]);
    expect(result.stdout).toMatch(/^pip \d+.* from .*\.whl/);
  });

  test("ends when its parent has gone", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const index = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`;
    const child = spawn(machinePython!.executable, guardedPip(["download", "nothing", "--index-url", index]), {
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, NO_PROXY: "*", PIP_CONFIG_FILE: "/dev/null" },
    });
    const [connection] = await once(server, "connection");
    child.stdin.end();
    const [code] = await once(child, "exit");
    expect(code).toBe(130);
    connection.destroy();
    server.close();
  });
});
