import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { SandboxLayers } from "@mrlm/spec/host";
import { nativeMissing } from "../src/native-backend.ts";

const missing = await nativeMissing();
const script = fileURLToPath(new URL("support/with-path.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "mrlm-bwrap-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Report extends SandboxLayers {
  readonly verdict: string;
  readonly descendants: readonly number[];
}

/** Reports the sandbox on a machine whose bubblewrap is this shell script. `$0` in arguments is the path of the real one, which the trial runs inside itself. */
function on(name: string, bubblewrap: string, ...args: string[]): Promise<Report> {
  mkdirSync(join(folder, name));
  const path = join(folder, name, "bwrap");
  writeFileSync(
    path,
    `#!/bin/bash\nreal=$(PATH=\${PATH#*:} command -v bwrap)\nset -- "\${@//$0/$real}"\n${bubblewrap}\n`,
  );
  chmodSync(path, 0o755);
  const env = { ...process.env, PATH: [join(folder, name), process.env["PATH"]].join(delimiter) };
  // The process may end itself by a signal.
  return new Promise((resolve, reject) =>
    execFile(
      process.execPath,
      ["--no-warnings", "--conditions=mrlm-source", script, ...args],
      { env },
      (error, stdout) => (stdout === "" ? reject(error as Error) : resolve(JSON.parse(stdout) as Report)),
    ),
  );
}

const DENIED = 'echo "bwrap: No permissions to create new namespace" >&2; exit 1';

describe("machines that are not like this one", () => {
  if (missing !== undefined) {
    test.skip(`not here: ${missing}`, () => {});
    return;
  }

  test("namespaces are denied to bubblewrap: Pyodide without a jail, and each missing layer has a reason", async () => {
    const { kind, jailed, verdict, missing: layers } = await on("denied", DENIED, "auto");
    expect([kind, jailed, verdict]).toEqual(["pyodide", false, "ok"]);
    expect(Object.fromEntries(layers.map(({ layer, reason }) => [layer, reason]))).toMatchObject({
      bubblewrap: expect.stringMatching(/No permissions to create new namespace .*sandboxes guide/),
      native: expect.stringMatching(/jail/),
    });
  }, 120_000);

  test("namespaces are denied to what runs in bubblewrap: Pyodide in a jail", async () => {
    const withoutRights = 'set -- "${@/#--cap-add/--cap-drop}"; exec "$real" "${@/#CAP_SYS_ADMIN/ALL}"';
    const { kind, jailed, verdict, missing: layers } = await on("capabilities", withoutRights, "auto");
    expect([kind, jailed, verdict]).toEqual(["pyodide", true, "ok"]);
    expect(layers).toEqual([
      { layer: "native", reason: expect.stringMatching(/does not start in its jail.*Operation not permitted/s) },
    ]);
  }, 120_000);

  test("the jail can have no /proc of its own: native all the same", async () => {
    const withoutProc =
      'for x in "$@"; do [ "$x" = --proc ] && { echo "Can\'t mount proc" >&2; exit 1; }; done; exec "$real" "$@"';
    expect(await on("proc", withoutProc, "auto")).toMatchObject({ kind: "native", jailed: true, verdict: "ok" });
  }, 120_000);

  test("without a jail a submission ends with the process that asked for it", async () => {
    const { descendants } = await on("orphans", DENIED, "pyodide", "die");
    expect(descendants.length).toBeGreaterThanOrEqual(2);
    for (let waited = 0; descendants.some((pid) => existsSync(`/proc/${pid}`)) && waited < 30_000; waited += 50)
      await setTimeout(50);
    expect(descendants.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  }, 120_000);
});
