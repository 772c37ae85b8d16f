import { afterAll, beforeAll, describe, test } from "@jest/globals";
import type { Plugin, Sandbox } from "@mrlm/kit";
import { barePluginContext } from "@mrlm/testing";

/**
 * Returns a plugin of sandboxes. It is found by name when the test runs, as a host finds it: no plugin imports another.
 * The name is a variable for that reason.
 */
export async function sandboxPlugin(language: "python" | "javascript"): Promise<Plugin> {
  const name: string = `@mrlm/sandbox-${language}`;
  const { default: plugin } = (await import(name)) as { default: Plugin };
  return plugin;
}

/** Creates a separate sandbox with options of its plugin. */
export async function makeSandbox(language: "python" | "javascript", given: unknown = {}): Promise<Sandbox> {
  const { sandboxes, options } = await sandboxPlugin(language);
  const parsed = await options?.["~standard"].validate(given);
  if (parsed?.issues !== undefined) throw new Error(JSON.stringify(parsed.issues));
  return (await sandboxes?.[language]?.(barePluginContext(), parsed?.value ?? given)) as Sandbox;
}

/** Kinds of Python sandbox, with the reason of the plugin why this machine cannot run one. */
export const pythonKinds = await Promise.all(
  ["pyodide", "native"].map(async (kind) => ({
    kind,
    missing: await makeSandbox("python", { kind }).then(
      (sandbox) => sandbox.close(),
      (error: Error) => error.message,
    ),
  })),
);

/**
 * Describes something in both kinds of Python, with a sandbox that the tests of a kind share. A kind that this machine cannot have is skipped, with the reason.
 * @param absent why there is nothing to test at all
 */
export function describePythonKinds(what: string, body: (sandbox: () => Sandbox) => void, absent?: string): void {
  describe.each(pythonKinds)(`${what} in Python of the kind $kind`, ({ kind, missing }) => {
    const reason = absent ?? missing;
    if (reason !== undefined) {
      test.skip(`not here: ${reason}`, () => {});
      return;
    }
    let sandbox: Sandbox | undefined;
    beforeAll(async () => {
      sandbox = await makeSandbox("python", { kind });
    }, 60_000);
    afterAll(() => sandbox?.close());
    body(() => sandbox as Sandbox);
  });
}

/**
 * Returns the same plugin with sandboxes that are shared by everything in a test file; what a host closes stays open.
 */
export function sharing(plugin: Plugin, language: string, sandbox: Sandbox): Plugin {
  const shared = new Proxy(sandbox, {
    get: (target, name) =>
      name === "close"
        ? async () => undefined
        : ((value) => (typeof value === "function" ? value.bind(target) : value))(
            Reflect.get(target, name, target) as unknown,
          ),
  });
  const { options: _options, ...rest } = plugin;
  return { ...rest, sandboxes: { [language]: () => shared } };
}
