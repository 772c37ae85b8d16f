import { afterAll, describe, test } from "@jest/globals";
import { environmentContract, inProcess, overGrpc, type Transport } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { makeSandbox, pythonKinds, sandboxPlugin, sharing } from "./support/sandboxes.ts";

const javascript = await makeSandbox("javascript");
const [pyodide, native] = await Promise.all(
  pythonKinds.map(async ({ kind, missing }) => (missing === undefined ? makeSandbox("python", { kind }) : undefined)),
);
afterAll(() => Promise.all([javascript, pyodide, native].map(async (sandbox) => sandbox?.close())), 60_000);

const [forPython, forJavascript] = [
  await sandboxPlugin("python"),
  sharing(await sandboxPlugin("javascript"), "javascript", javascript),
];

function contract(
  python: typeof pyodide,
  transports: Readonly<Record<string, Transport>>,
  isWanted: (name: string) => boolean,
): void {
  if (python === undefined) {
    test.skip(`not here: ${pythonKinds.find(({ missing }) => missing !== undefined)?.missing ?? ""}`, () => {});
    return;
  }
  const plugins = [plugin, sharing(forPython, "python", python), forJavascript];
  const registry = {
    describe,
    test: (name: string, body: () => Promise<void>, timeoutMs?: number) =>
      void (isWanted(name) && test(name, body, timeoutMs)),
  };
  environmentContract({ plugins, environment: "code@2", transports, timeoutMs: 300_000, registry });
}

const isFixture = (name: string): boolean => name.startsWith("fixture ");

// The sandbox determines the duration of a fixture, and it is the same over any transport. So each fixture runs once, and each Python fixture once in each kind of sandbox.
describe("in process, Python in Pyodide", () => {
  contract(pyodide, { "in process": inProcess }, (name) => name !== "in process");
});
describe("in process, the host's Python", () => {
  contract(native, { "in process": inProcess }, (name) => isFixture(name) && !/typescript/i.test(name));
});
describe("over gRPC", () => {
  contract(pyodide, { "over gRPC": overGrpc() }, (name) => !isFixture(name) && name !== "over gRPC");
});
