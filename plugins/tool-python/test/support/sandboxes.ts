import { afterAll, afterEach, beforeAll, describe, test } from "@jest/globals";
import type { Plugin, Sandbox } from "@mrlm/kit";
import { barePluginContext } from "@mrlm/testing";
import { type OpenPython, openPython } from "./open-python.ts";
import { type PythonCase, QUEUE } from "./python-cases.ts";

/** Creates a Python sandbox. Its plugin is found by a name in a variable, because no plugin imports another. */
export async function makeSandbox(given: unknown): Promise<Sandbox> {
  const name: string = "@mrlm/sandbox-python";
  const { sandboxes, options } = ((await import(name)) as { default: Plugin }).default;
  const parsed = await options?.["~standard"].validate(given);
  if (parsed === undefined || parsed.issues !== undefined) throw new Error(JSON.stringify(parsed?.issues));
  return (await sandboxes?.["python"]?.(barePluginContext(), parsed.value)) as Sandbox;
}

/** Kinds of Python sandbox, with the reason of the plugin why this machine cannot run one. */
export const pythonKinds = await Promise.all(
  ["pyodide", "native"].map(async (kind) => ({
    kind,
    missing: await makeSandbox({ kind }).then(
      (sandbox) => sandbox.close(),
      (error: Error) => error.message,
    ),
  })),
);

/** Registers the cases of each kind, which share a sandbox of two sessions. Skips a kind that this machine cannot run, with the reason. */
export function describePython(what: string, casesOf: (kind: string) => readonly PythonCase[]): void {
  describe.each(pythonKinds)(`${what} in Python of the kind $kind`, ({ kind, missing }) => {
    if (missing !== undefined) {
      test.skip(`not here: ${missing}`, () => {});
      return;
    }
    let sandbox: Sandbox;
    const opened: OpenPython[] = [];
    beforeAll(async () => {
      sandbox = await makeSandbox({
        kind,
        sessions: 2,
        session_queue: QUEUE,
        limits: { wall_ms: 20_000, cpu_ms: 20_000 },
      });
    }, 60_000);
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((python) => python.close()));
    });
    afterAll(() => sandbox.close());
    for (const { name, run } of casesOf(kind))
      test(
        name,
        () =>
          run(async (options) => {
            const python = await openPython(sandbox, options);
            opened.push(python);
            return python;
          }),
        60_000,
      );
  });
}
