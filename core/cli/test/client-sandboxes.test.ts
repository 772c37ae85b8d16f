import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { definePlugin } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { Tokens } from "@mrlm/kit/access";
import { PluginHost } from "@mrlm/runtime";
import type { Sandbox } from "@mrlm/spec";
import type { SandboxCallOptions, SandboxLayers, Submission } from "@mrlm/spec/host";
import { sandboxesOfClients } from "../src/services/sandboxes.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const none = (): never => {
  throw new Error("not used");
};
const sandbox = (language: string, jailed: boolean): Sandbox => ({
  language,
  limits: { wallMs: 1, cpuMs: 1, memoryBytes: 1, outputBytes: 1 },
  run: none,
  test: none,
  session: none,
  warm: none,
  layers: async (): Promise<SandboxLayers> => ({ kind: "test", language, active: [], missing: [], jailed }),
  close: async () => undefined,
});
const environments: readonly string[] = [];
const plugins = await PluginHost.of([
  definePlugin({
    name: "sandboxes",
    sandboxes: { python: () => sandbox("python", true), javascript: () => sandbox("javascript", false) },
  }),
]);

test.each([
  ["named", false, ["javascript", "python"]],
  ["default", false, ["javascript", "python"]],
  ["default", true, ["python"]],
  [undefined, true, []],
] as const)("clients of %s /run_code, jailed: %s, get the sandboxes %j", async (runsCode, mustBeJailed, languages) => {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const found = await sandboxesOfClients(plugins, runsCode, { mustBeJailed, logger, environments });
  expect(Object.keys(found).toSorted()).toEqual(languages);
  expect(warnings).toHaveLength(runsCode === "default" && mustBeJailed ? 1 : 0);
});

test("U9: programs have half of a sandbox that an environment of the server uses too", async () => {
  const installed = await PluginHost.discover({ directory: root, logger: silentLogger });
  const placesWith = async (environments: readonly string[]): Promise<unknown> => {
    const found = await sandboxesOfClients(installed, "named", {
      mustBeJailed: false,
      logger: silentLogger,
      environments,
    });
    return Object.fromEntries(Object.entries(found).map(([language, { places }]) => [language, places]));
  };
  expect(await placesWith(["math"])).toEqual({ javascript: 2, python: 2 });
  expect(await placesWith(["math", "code"])).toEqual({ javascript: 1, python: 1 });
  await installed.close();
});

test.each([
  [true, undefined, ["a", "b"]],
  [false, undefined, ["a", "a"]],
  [true, Tokens.of("secret"), ["a", "a"]],
])(
  "U9: of 2 places, reached by other machines: %s, tokens: %j, programs of %j run",
  async (isPublic, tokens, names) => {
    const running: string[] = [];
    const open = {
      ...sandbox("python", true),
      children: 2,
      run: async ({ code }: Submission, { signal }: SandboxCallOptions = {}) => {
        running.push(code);
        await once(signal as AbortSignal, "abort");
        return none();
      },
    };
    const host = await PluginHost.of([definePlugin({ name: "sandboxes", sandboxes: { python: () => open } })]);
    const server = { mustBeJailed: false, isPublic, logger: silentLogger, environments, ...(tokens && { tokens }) };
    const { python } = await sandboxesOfClients(host, "named", server);
    const ended = new AbortController();
    const calls = ["a", "a", "b"].map(async (client) => await python?.run(client, { code: client }, ended.signal));
    await new Promise(setImmediate);
    expect(running).toEqual(names);
    ended.abort();
    await Promise.allSettled(calls);
  },
);
