import { describe, expect, test } from "@jest/globals";
import { LocalHost, parseConfig, PluginHost } from "@mrlm/runtime";
import { definePlugin } from "@mrlm/kit";
import { MrlmError } from "@mrlm/spec";
import { nearestName } from "@mrlm/spec/host";
import { stringify } from "yaml";
import { z } from "zod";
import { describeIssues, validateOptions } from "../src/plugins/standard-options.ts";

const BASE = { model: { path: "m" }, stages: [{ algorithm: "sft" }] };
const errorOf = (text: string, overrides: readonly string[] = []): MrlmError => {
  try {
    parseConfig(text, { path: "run.yaml", overrides });
  } catch (error) {
    if (MrlmError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("it was accepted");
};
/** Names that every object inherits from its prototype, or that set the prototype. */
const INHERITED = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];

describe("S6: names and lists that are expensive to compare", () => {
  test("a name of a megabyte is compared with nothing, and cut in the message", () => {
    expect(nearestName("x".repeat(1 << 20), ["xx", "y".repeat(1 << 20)])).toBeUndefined();
    const { message } = errorOf(stringify({ ...BASE, ["k".repeat(1 << 20)]: 1 }));
    expect(message).toContain("(1048576 characters)");
    expect(message.length).toBeLessThan(1_000);
  });

  test("of 2,000 unknown keys of a configuration ten are located and named", () => {
    const { message } = errorOf(
      JSON.stringify({ ...BASE, ...Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`key_${i}`, 1])) }),
    );
    expect(message.split("\n")).toHaveLength(11);
    expect(message).toMatch(/and 1990 more$/);
  });

  test("of 20,000 unknown options ten are named", async () => {
    const schema = z.strictObject({ families: z.array(z.string()).optional() });
    const outcome = await validateOptions(
      schema,
      Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`familie${i}`, 1])),
    );
    const words = outcome.ok ? "" : describeIssues(outcome.issues, schema);
    expect(words.match(/unknown key/g)).toHaveLength(10);
    expect(words).toMatch(/"familie0" \(did you mean "families"\?\).*; and 19990 more$/s);
  });

  test("demonstrations of many tasks let others take their turn, and end with their caller", async () => {
    const task = { public: {}, private: {} };
    const host = new LocalHost({
      source: await PluginHost.of([
        definePlugin({
          name: "slow",
          environments: [
            {
              id: "slow@1",
              description: "",
              determinism: "full",
              tasks: async () => ({
                splits: { train: 1_000_000, eval: 0 },
                get: async (split, index) => ({ id: `${split}/${index}`, ...task }),
              }),
              create: () => Promise.reject(new Error("it is not played")),
              async demonstrate(_context, _options, id) {
                return {
                  task: id,
                  agent: "agent",
                  messages: [{ role: "assistant", parts: [{ type: "text", text: "done" }] }],
                };
              },
            },
          ],
        }),
      ]),
    });
    const controller = new AbortController();
    let turns = 0;
    const other = setInterval(() => ++turns === 2 && controller.abort(new MrlmError("CANCELLED", "enough")), 1);
    const all = host.demonstrate(
      { id: "slow" },
      Array.from({ length: 1_000_000 }, (_, i) => `train/${i}`),
      { signal: controller.signal },
    );
    await expect(all).rejects.toMatchObject({ code: "CANCELLED" });
    clearInterval(other);
    await host.close();
  });
});

describe("S9: YAML that is made to break its reader", () => {
  test("aliases that stand for ever more, and lists nested without end, are CONFIG_INVALID", () => {
    const bomb = [
      "a: &a [x, x, x, x, x, x, x, x, x]",
      ..."bcdefgh".split("").map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[i]}`).join(", ")}]`),
    ].join("\n");
    expect(errorOf(bomb)).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("run.yaml cannot be read as YAML"),
    });
    expect(errorOf(`a: ${"[".repeat(20_000)}${"]".repeat(20_000)}`)).toMatchObject({ code: "CONFIG_INVALID" });
    expect(() => errorOf(stringify(BASE), [`name=${"[".repeat(20_000)}`])).not.toThrow();
  });

  test.each(INHERITED)("a key called %s is a key like any other, wherever it stands", (name) => {
    const key = JSON.stringify(name);
    const texts = [
      `{${key}: 1, model: {path: m}, stages: [{algorithm: sft}]}`,
      `{model: {path: m, ${key}: 1}, stages: [{algorithm: sft}]}`,
      `{model: {path: m}, stages: [{algorithm: sft}], sampling: {${key}: {a: 1}}}`,
      `{model: {path: m}, training: {algorithm: ppo, ${key}: 2}, engine: {${key}: 1}}`,
      `{model: {path: m}, training: {algorithm: ${key}, num_epochs: 2}, engine: {${key}: 1}}`,
      `{model: {random: {config: {}, ${key}: 2}}, stages: [{algorithm: sft}]}`,
    ];
    for (const text of texts)
      expect(errorOf(text)).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining(name) });
    expect(errorOf(stringify(BASE), [`sampling.${name}=1`])).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(name),
    });
    // The algorithm validates the options of its stage.
    expect(() =>
      parseConfig(`{model: {path: m}, stages: [{algorithm: sft, ${key}: 1, options: {a: 1}}]}`, { path: "run.yaml" }),
    ).not.toThrow();
  });

  test.each(INHERITED)("an environment, its options and its splits called %s do not exist", async (name) => {
    const tasks = { splits: { train: 1, eval: 0 }, get: async () => ({ id: "train/0", public: {}, private: {} }) };
    const host = new LocalHost({
      source: await PluginHost.of([
        definePlugin({
          name: "plain",
          environments: [
            {
              id: "plain@1",
              description: "",
              determinism: "full",
              options: z.strictObject({ nested: z.strictObject({ a: z.number() }).optional() }),
              tasks: async () => tasks,
              create: () => Promise.reject(new Error("it is not played")),
            },
          ],
        }),
      ]),
    });
    await expect(host.describe({ id: name })).rejects.toMatchObject({ code: "ENVIRONMENT_NOT_FOUND" });
    for (const text of [
      `{${JSON.stringify(name)}: 1}`,
      `{"nested": {"a": 1, ${JSON.stringify(name)}: {}}}`,
      `{"nested": {${JSON.stringify(name)}: {"a": {}}}}`,
    ])
      await expect(host.describe({ id: "plain", options: JSON.parse(text) })).rejects.toMatchObject({
        code: "OPTIONS_INVALID",
      });
    const session = await host.open({ id: "plain" });
    await expect(session.reset({ task: `${name}/0`, signal: new AbortController().signal })).rejects.toMatchObject({
      code: "TASK_NOT_FOUND",
    });
    await host.close();
  });
});
