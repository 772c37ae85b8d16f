import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { marked, serverProcesses, until } from "./support/processes.ts";
import { call, episode, textOf, toolset } from "./support/toolset.ts";

const script = fileURLToPath(new URL("support/modern-server.mjs", import.meta.url));

test.each(["initialize", "discover"] as const)("a server of the newest version, by %s", async (protocol) => {
  const server = { command: process.execPath, args: [script], env: marked };
  const tools = await toolset({ mcpServers: { s: server }, servers: { s: { protocol } } });
  const opened = await episode(tools);
  expect(textOf(await call(opened, "s__add", { a: 1, b: 2 }))).toBe("3");
  const refused = await call(opened, "s__add", { a: "one" });
  expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("expected number")]);
  const before = textOf(await call(opened, "s__pid"));
  const abort = new AbortController();
  const hanging = call(opened, "s__hang", {}, { signal: abort.signal });
  abort.abort(new Error("too late"));
  await expect(hanging).rejects.toThrow("too late");
  expect(textOf(await call(opened, "s__pid"))).toBe(before);
  await call(opened, "s__grow");
  expect(await until(() => opened.tools.some(({ name }) => name === "s__grown"))).toBe(true);
  expect(textOf(await call(opened, "s__grown"))).toBe("grown");
  await opened.close();
  await tools.close();
  expect(serverProcesses()).toEqual([]);
});
