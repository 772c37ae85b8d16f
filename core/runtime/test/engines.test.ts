import { afterAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import type { AlgorithmDefinition, JsonObject } from "@mrlm/spec";
import { duelEnvironment } from "@mrlm/testing";
import { z } from "zod";
import { checkRoutes, enginesOf, loadConfig, LocalHost, parseConfig, PluginHost, prepareRun } from "../src/index.ts";
import { RunDirectory } from "../src/run/run-directory.ts";
import { describeExtension, extensionOf, learningSettings } from "../src/resume/resume-compatibility.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

/** Learns nothing, and has a reference and a critic. */
const actor: AlgorithmDefinition<{ critic?: { path: string } | undefined }> = {
  id: "actor@1",
  description: "",
  options: z.strictObject({ critic: z.strictObject({ path: z.string() }).optional() }),
  iterations: () => 1,
  memory: ({ critic }) => ({ reference: true, critic: critic ?? "copy" }),
  create: () => Promise.reject(new Error("not played here")),
};
const MODEL = { random: { config: { hidden_size: 8 }, tokenizer: { characters: { alphabet: "ab" } } } };
const WIDE = { random: { ...MODEL.random, config: { hidden_size: 512 } } };

const textOf = (changes: object): string =>
  JSON.stringify(
    {
      policies: { alice: MODEL, bob: MODEL },
      environments: [{ id: "duel", players: { first: "alice", second: "bob" } }],
      stages: [{ learners: { alice: { algorithm: "actor" }, bob: { algorithm: "actor" } } }],
      eval: { tasks: 0 },
      ...changes,
    },
    null,
    1,
  );
const parsed = (changes: object) => parseConfig(textOf(changes), { path: "/x/run.yaml" });

describe("engines beside the main one", () => {
  test("each has the keys of `engine` but for its own, and threads for its own policies", () => {
    const [main, second, ...none] = enginesOf(
      parsed({
        policies: { alice: MODEL, bob: WIDE },
        engine: { device: "cpu", mode: "deterministic", threads: 3, samplers: 1 },
        engines: { second: { models: ["bob"], token_file: "token", address: "a:1" } },
        distributed: { nproc_per_node: 2 },
      }).config,
    );
    expect(none).toEqual([]);
    expect(main).toMatchObject({ name: "main", models: [], config: { distributed: { nproc_per_node: 2 } } });
    expect(Object.keys(main?.config.policies ?? {})).toEqual(["alice"]);
    expect(second?.config.engine).toEqual({
      provider: "torch",
      device: "cpu",
      mode: "deterministic",
      check_memory: true,
      sampler_wait_seconds: 0,
      samplers: 0,
      address: "a:1",
      token_file: "/x/token",
    });
    expect(Object.keys(second?.config.policies ?? {})).toEqual(["bob"]);
    expect(second?.config.distributed).toMatchObject({ enabled: false, nproc_per_node: 1 });
  });

  test("the configuration of a run keeps them, and a resumed run has the same models on each", () => {
    const engines = { second: { models: ["bob"], gpu: 1 } };
    const { config } = parsed({ engines, output: temporaryDirectory() });
    const written = loadConfig(RunDirectory.create(config, "").configPath).config;
    expect(written.engines).toEqual(config.engines);
    const resume = (after: object) =>
      extensionOf("checkpoint", learningSettings(config), learningSettings(parsed(after).config), {
        stage: 0,
        iteration: 1,
      });
    expect(resume({ engines: { second: { models: ["bob"], device: "cpu" } } })).toMatchObject({ changed: [] });
    for (const other of [{}, { engines: { second: { models: ["alice"] } } }])
      expect(() => resume(other)).toThrow(/engines.*-> /);
  });

  test("a mesh has as many processes as the run, and a resumed run may have another one, with a notice", () => {
    const mesh = (parallel: object, distributed: object) =>
      parsed({ engine: { parallel }, distributed: { strategy: "fsdp", ...distributed } }).config;
    const before = mesh({ tensor: 2 }, { nproc_per_node: 4 });
    const after = mesh({ data: 1, context: 4, tensor: 2 }, { nproc_per_node: 4, nnodes: 2, master_addr: "a" });
    const settings = [before, after].map(learningSettings) as [JsonObject, JsonObject];
    const extension = extensionOf("checkpoint", ...settings, { stage: 0, iteration: 1 });
    expect(describeExtension(extension, after)).toEqual([
      expect.stringMatching(/^engine.parallel.context: 1 -> 4: .* may change the last bits/),
      expect.stringMatching(/^engine.parallel.data: nothing -> 1: /),
    ]);
    const alone = extensionOf("checkpoint", learningSettings(parsed({}).config), settings[0], {
      stage: 0,
      iteration: 1,
    });
    expect(describeExtension(alone, before)).toEqual([expect.stringMatching(/^engine.parallel: nothing -> \{/)]);
    expect(() => mesh({ context: 2, tensor: 2 }, { nproc_per_node: 6 })).toThrow(
      /context 2 x tensor 2 does not divide 6, the number of processes/,
    );
    expect(() => mesh({ data: 2, tensor: 2 }, { nproc_per_node: 2 })).toThrow(
      /data 2 x context 1 x tensor 2 is not 2, the number of processes/,
    );
    expect(() => mesh({ tensor: 2 }, {})).toThrow(/does not divide 1/);
    expect(() => parsed({ engine: { address: "a:1", parallel: { tensor: 2 } } })).toThrow(/has a mesh already/);
  });

  test.each<[string, JsonObject, string, device?: string]>([
    [
      "two engines for a model",
      { a: { models: ["bob"] }, b: { models: ["bob"] } },
      '"bob" is on the engine "a" already',
    ],
    ["the name of the main engine", { main: { models: ["bob"] } }, 'is not "main"'],
    ["a name that is no directory", { "a/b": { models: ["bob"] } }, "letters, digits, dots"],
    [
      "a main engine without a policy",
      { a: { models: ["alice", "bob"] } },
      "leave the models of one of them to `engine`",
    ],
    ["no model", { a: { models: [] } }, "engines.a.models"],
    ["a token without an address", { a: { models: ["bob"], token_file: "t" } }, "give its `address` too"],
    [
      "samplers of a running engine",
      { a: { models: ["bob"], address: "a:1", samplers: 1 } },
      "engines.a.samplers is for",
    ],
    ["a GPU without CUDA", { a: { models: ["bob"], device: "cpu", gpu: 1 } }, "engines.a.gpu is for CUDA"],
    ["a GPU with the CPU of `engine`", { a: { models: ["bob"], gpu: 1 } }, "engines.a.gpu is for CUDA", "cpu"],
    ["a GPU of a running engine", { a: { models: ["bob"], address: "a:1", gpu: 1 } }, "engines.a.gpu is for an engine"],
  ])("%s: refused with the line", (_, engines, text, device = "auto") => {
    expect(() => parsed({ engine: { device }, engines })).toThrow(text);
    expect(() => parsed({ engine: { device }, engines })).toThrow(/run\.yaml:\d+:\d+/);
  });
});

describe("the models of an engine", () => {
  async function check(changes: object): Promise<void> {
    const plugin = definePlugin({ name: "t", environments: [duelEnvironment({ rounds: 1 })], algorithms: [actor] });
    const source = await PluginHost.of([plugin]);
    const loaded = parseConfig(textOf(changes), { path: join(temporaryDirectory(), "run.yaml") });
    const host = new LocalHost({ source });
    try {
      checkRoutes(await prepareRun(loaded, { host, algorithms: source }), loaded);
    } finally {
      await host.close();
    }
  }
  const stages = (learner: JsonObject): JsonObject => ({
    stages: [{ learners: { alice: { algorithm: "actor" }, bob: { algorithm: "actor", ...learner } } }],
  });
  const engines = { second: { models: ["bob"] } };

  test("a policy brings its copies along, and a critic of a directory has a place of its own", async () => {
    await check({ engines });
    await check({ engines: { second: { models: ["bob", "critic-bob"] } } });
    const critic = { critic: { path: "/elsewhere" } };
    await check({ engines: { second: { models: ["critic-bob"], address: "a:1" } }, ...stages(critic) });
  });

  test("an unknown model and a copy apart from its original are refused with the line", async () => {
    await expect(check({ engines: { second: { models: ["rob"] } } })).rejects.toThrow(
      /run\.yaml:\d+:\d+: the run has no model "rob"\. Its models: alice, bob, critic-alice, reference-0-alice/,
    );
    await expect(check({ engines: { second: { models: ["reference-0-bob"] } } })).rejects.toThrow(
      /"reference-0-bob" is a copy of "bob", so it is on the engine "main" too/,
    );
  });
});
