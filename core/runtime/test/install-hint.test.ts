import { expect, test } from "@jest/globals";
import { PluginHost } from "@mrlm/runtime";

test.each([
  ["judge", "llm@2", "npm install @mrlm/judge-llm"],
  ["scorer", "llm", "npm install @mrlm/judge-llm"],
  ["tool", "calculator@2", "npm install @mrlm/tool-calculator"],
  ["sandbox", "python", "npm install @mrlm/sandbox-python"],
  ["judge", "chess@1", "npx mrlm plugins search chess"],
  ["judge", "constructor", "npx mrlm plugins search constructor"],
  ["judge", "$(reboot)", "npx mrlm plugins search judge"],
] as const)("a missing %s %s: the command that finds its package", async (kind, name, command) => {
  const host = await PluginHost.of([]);
  await expect(host.service(kind, name, "environment x@1")).rejects.toMatchObject({
    code: "REQUIREMENT_MISSING",
    hint: expect.stringContaining(`\`${command}\``),
  });
});
