import { describe, expect, test } from "@jest/globals";
import type { MrlmError } from "@mrlm/spec";
import fc from "fast-check";
import { stringify } from "yaml";
import { loadConfig, parseConfig } from "@mrlm/runtime";

const WHOLE = {
  name: "whole",
  seed: 1,
  model: {
    random: { config: { model_type: "qwen2" }, tokenizer: "characters", seed: 3 },
    dtype: "float32",
    tool_format: "mistral",
    float32_head: true,
    micro_batch_tokens: 4096,
  },
  environments: [{ id: "math", options: { style: "terse" }, weight: 2, max_turns: 3 }],
  stages: [
    { algorithm: "sft", steps: 75 },
    { algorithm: "grpo", name: "reinforce", steps: 50 },
  ],
  sampling: { temperature: 0.9, max_tokens: 24, max_sequence_tokens: 64, concurrency: 16 },
  eval: { split: "eval", tasks: 100, samples: 2, every: 10 },
  engine: { provider: "torch", device: "cpu", mode: "deterministic", threads: 2 },
  server: { spawn: true, reconnect_seconds: 5 },
  checkpoint: { every: 10, keep: 3 },
  output: { directory: "runs", trajectories: false },
  distributed: { enabled: false, strategy: "fsdp", nproc_per_node: 2 },
};

const parse = (value: unknown) =>
  parseConfig(typeof value === "string" ? value : stringify(value), { path: "run.yaml" });
const errorOf = (value: unknown): MrlmError => {
  try {
    parse(value);
  } catch (error) {
    return error as MrlmError;
  }
  throw new Error("it was accepted");
};

/** Returns every key of a configuration that a schema of ours knows, as a path. */
function keyPaths(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (Array.isArray(value)) return value.flatMap((item, i) => keyPaths(item, [...path, i]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    ["options", "config"].includes(key) ? [] : [[...path, key], ...keyPaths(member, [...path, key])],
  );
}

function rename(value: unknown, path: (string | number)[], to: string): unknown {
  const [first, ...rest] = path;
  if (Array.isArray(value)) return value.map((item, i) => (i === first ? rename(item, rest, to) : item));
  return Object.fromEntries(
    Object.entries(value as object).map(([key, member]) =>
      key !== first ? [key, member] : rest.length === 0 ? [to, member] : [key, rename(member, rest, to)],
    ),
  );
}

describe("unknown keys", () => {
  const paths = keyPaths(WHOLE).filter((path) => path[0] !== "stages" && String(path.at(-1)).length > 3);

  test("any misspelt key is named with its line, its column and the nearest known key", () => {
    expect(() => parse(WHOLE)).not.toThrow();
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.nat(), (path, at) => {
        const key = String(path.at(-1));
        const i = 1 + (at % (key.length - 2));
        const swapped = key.slice(0, i) + key.charAt(i + 1) + key.charAt(i) + key.slice(i + 2);
        const misspelt = swapped === key ? `${key}x` : swapped;
        const text = stringify(rename(WHOLE, path, misspelt));
        const lines = text.split("\n");
        const line = lines.findIndex((content) => content.trim().replace(/^- /, "").startsWith(`${misspelt}:`));
        const column = (lines[line] as string).indexOf(misspelt);
        const error = errorOf(text);
        expect(error.code).toBe("CONFIG_INVALID");
        expect(error.message).toContain(`run.yaml:${line + 1}:${column + 1}: unknown key "${misspelt}"`);
        expect(error.message).toContain(`Did you mean "${key}"?`);
      }),
      { numRuns: 60 },
    );
  });

  test("all of them are listed, each on a line of its own", () => {
    expect(
      errorOf("nmae: x\nmodel: {path: a, detype: auto}\nstages: [{algorithm: sft}]\n").message.split("\n"),
    ).toEqual([
      'run.yaml:2:18: unknown key "detype" in model. Did you mean "dtype"?',
      'run.yaml:1:1: unknown key "nmae". Did you mean "name"?',
    ]);
  });
});

describe("values", () => {
  const cases: [string, string][] = [
    ["seed: one", 'run.yaml:1:7: seed: must be a number, but it is "one"'],
    ["play: {lag: 2}", "play.lag is for `mode: pipelined` and `mode: async`: with `sync` every batch"],
    ["play: {mode: async, lag: 0}", "play.lag of `mode: async` is at least 1"],
    [
      "play: {mode: pipelined, on_stale: correct}",
      "play.on_stale is for `mode: async`: with `pipelined` no token is older than the lag",
    ],
    ["play: {in_flight: keep}", "play.in_flight is for `mode: async`: with `sync`"],
    [
      "engine: {address: 'a:1', samplers: 1}",
      "run.yaml:1:26: engine.samplers is for an engine that is started for the run",
    ],
    ["engine: {samplers: 65}", "engine.samplers: must be at most 64, but it is 65"],
    ["server: {tls: {ca: a}}", "server.tls is for one that is already running: give its `address` too"],
    ["server: {address: 'a:1', tls: {cert: a}}", "server.tls has one of `cert` and `key`: mutual TLS needs both"],
    ["server: {address: 'a:1', tls: {cacert: a}}", 'unknown key "cacert" in server.tls'],
    ["server: {address: 'a:1', tls: true}", "server.tls: must be an object"],
    ["seed: -1", "run.yaml:1:7: seed: must be at least 0, but it is -1"],
    ["seed: 1.5", "run.yaml:1:7: seed: must be a whole number, but it is 1.5"],
    [
      "engine: {device: gpu}",
      'run.yaml:1:18: engine.device: must be one of auto, cpu, cuda (did you mean cpu?), but it is "gpu"',
    ],
    [
      "engine:\n  mode: determinstic",
      'run.yaml:2:9: engine.mode: must be one of auto, deterministic, throughput (did you mean deterministic?), but it is "determinstic"',
    ],
    ["stages: []", "run.yaml:1:9: stages: must have at least 1, but it is []"],
    ["environments: [{weight: 1}]", "run.yaml:1:16: environments[0].id: is missing"],
    ["environments: math", 'run.yaml:1:15: environments: must be a list, but it is "math"'],
    ["output: {keep: true}", 'run.yaml:1:10: unknown key "keep" in output'],
    ["output: 7", "run.yaml:1:9: output: must be text or an object with keys, but it is 7"],
    [
      "environments: [{id: math, players: {agent: 3}}]",
      "run.yaml:1:44: environments[0].players.agent: must be text or an object with keys, but it is 3",
    ],
    ["model: {random: {tokenizer: x}}", "run.yaml:1:17: model.random.config: is missing"],
    ["sampling: {top_p: 0}", "run.yaml:1:19: sampling.top_p: must be above 0, but it is 0"],
    ["sampling: {max_tokens: 4, min_tokens: 5}", "run.yaml:1:39: sampling.min_tokens (5) is above max_tokens (4)"],
    ["eval: {tasks: 0, every: 2}", "run.yaml:1:18: eval.every has no effect"],
    ["model: {path: m, lora: {rank: 4, alpha: 8, dropout: 0.1}}", "run.yaml:1:53: model.lora.dropout: must be 0"],
    [
      "stages: [{algorithm: grpo, sampling: {min_tokens: 300}}]",
      "run.yaml:1:51: sampling.min_tokens (300) is above max_tokens (256)",
    ],
    [
      "stages: [{algorithm: grpo, curriculum: {pass_rate: [0.9, 0.1]}}]",
      "run.yaml:1:52: stages[0].curriculum.pass_rate: the lower rate comes first",
    ],
    [
      "stages: [{algorithm: grpo, curriculum: {fresh: 0.6, hard: 0.4}}]",
      "`fresh` and `hard` must leave a share for active tasks",
    ],
    ["name: a/b", "run.yaml:1:7: name: must be letters, digits"],
  ];
  test.each(cases)("%s", (text, message) => {
    expect(
      errorOf(
        `${text}\n${text.startsWith("model") ? "" : "model: {path: m}\n"}${text.startsWith("stages") ? "" : "stages: [{algorithm: sft}]\n"}`,
      ).message,
    ).toContain(message);
  });

  test("YAML that is none, and keys that stand twice, are named by line and column", () => {
    expect(errorOf("name: [x\nseed: 1").message).toMatch(/^run\.yaml:\d+:\d+: this is not valid YAML/);
    expect(errorOf("seed: 1\nseed: 2").message).toMatch(/^run\.yaml:2:1: this is not valid YAML/);
  });

  test("what is missing as a whole", () => {
    expect(errorOf("").message).toContain("model: is missing");
    expect(errorOf("model: {path: m}").message).toContain("`stages` is missing");
    expect(errorOf("model: {}\nstages: [{algorithm: sft}]").message).toContain(
      "run.yaml:1:1: model: give one of `path`",
    );
    expect(errorOf("model: {path: m, random: {config: {}}}\nstages: [{algorithm: sft}]").message).toContain(
      "give one of `path`",
    );
  });

  test("one setting given twice", () => {
    expect(errorOf("name: a\nexperiment_name: b\nmodel: {path: m}\nstages: [{algorithm: sft}]").message).toContain(
      'run.yaml:2:1: "experiment_name" and "name" mean the same',
    );
    expect(errorOf("model: {path: m}\nstages: [{algorithm: sft, steps: 1, options: {steps: 2}}]").message).toContain(
      '"steps" is given both beside `options` and in it',
    );
  });

  test("options for starting a process that is already running cause a notice, unless they are at their defaults", () => {
    const { notices } = parse(
      "model: {path: m}\nstages: [{algorithm: sft}]\nengine: {address: 'a:1', device: cuda, mode: auto, threads: 2}\nserver: {address: 'b:2', spawn: true}",
    );
    expect(notices).toEqual([
      "run.yaml:3:26: engine.device has no effect: the one at a:1 is running already.",
      expect.stringMatching(/^run\.yaml:3:\d+: engine\.threads has no effect/),
      "run.yaml:4:26: server.spawn has no effect: the one at b:2 is running already.",
    ]);
  });

  test("the address of the server is a text or a list of texts", () => {
    const withAddress = (address: string) =>
      `model: {path: m}\nstages: [{algorithm: sft}]\nserver: {address: ${address}, spawn: true}`;
    expect(parse(withAddress("'dns:b:2'")).config.server.address).toBe("dns:b:2");
    const { config, notices } = parse(withAddress("['b:2', '[::1]:3']"));
    expect(config.server.address).toEqual(["b:2", "[::1]:3"]);
    expect(notices).toEqual([expect.stringContaining("the one at b:2, [::1]:3 is running already.")]);
    for (const wrong of ["[]", "['']", "[1]", "{a: 1}"])
      expect(errorOf(withAddress(wrong)).message).toContain("run.yaml:3:");
  });

  test("a file that is not there", () => {
    expect(() => loadConfig("/nowhere/run.yaml")).toThrow(expect.objectContaining({ code: "CONFIG_NOT_FOUND" }));
  });
});

describe("resolving", () => {
  test("the resolved configuration is frozen, complete, and loads again as itself", () => {
    const { config } = parse(WHOLE);
    expect(Object.isFrozen(config.eval.environments[0]?.options)).toBe(true);
    expect(config.stages[1]).toEqual({
      name: "reinforce",
      sampling: { temperature: 0.9, max_tokens: 24 },
      learners: { policy: { algorithm: "grpo", options: { steps: 50 } } },
    });
    expect(config.distributed).toMatchObject({ enabled: false, nproc_per_node: 1 });
    expect(
      parseConfig(stringify(config), { path: "/elsewhere/config.yaml", workingDirectory: "/other" }).config,
    ).toEqual(config);
  });

  test("defaults: one seed for all, evaluation on what is trained on, the file's name", () => {
    const { config } = parse("model: {path: m}\nenvironments: [{id: math}, {id: math}]\nstages: [{algorithm: sft}]");
    expect(config).toMatchObject({
      name: "run",
      seed: 0,
      eval: { environments: [{ id: "math", options: {} }] },
      environments: [{ id: "math", weight: 2 }],
      checkpoint: { every: 50, keep: 2 },
    });
    expect(config.policies["policy"]?.path).toBe(`${process.cwd()}/m`);
  });

  test("the legacy form without evaluation loads again", () => {
    const { config } = parse(
      "model: {path: m}\ntraining: {algorithm: sft, num_epochs: 2, eval_every: 5, eval_episodes: 0}",
    );
    expect(parse(config).config).toEqual(config);
  });

  test("any resolved configuration is a fixed point", () => {
    const some = fc.record(
      {
        seed: fc.nat(),
        model: fc.constantFrom(
          { path: "m" },
          { random: { config: { hidden_size: 8 } } },
          { path: "/m", lora: { rank: 4, alpha: 8 } },
        ),
        environments: fc.array(
          fc.record(
            { id: fc.constantFrom("a", "b@1"), weight: fc.integer({ min: 1, max: 5 }) },
            { requiredKeys: ["id"] },
          ),
          {
            minLength: 1,
            maxLength: 3,
          },
        ),
        stages: fc.constant([{ algorithm: "x", depth: 2 }]),
        output: fc.constantFrom("o", { directory: "p" }),
        distributed: fc.record(
          { nproc_per_node: fc.integer({ min: 1, max: 3 }), enabled: fc.boolean() },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ["model", "stages"] },
    );
    fc.assert(
      fc.property(some, (value) => {
        const { config } = parse(value);
        expect(parse(config).config).toEqual(config);
      }),
      { numRuns: 50 },
    );
  });
});

test("U13: a configuration that is no object is named without an empty key", () => {
  expect(() => parse("junk")).toThrow(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      message: 'run.yaml:1:1: must be an object with keys, but it is "junk"',
    }),
  );
});

describe("store", () => {
  const storeOf = (store: unknown) => parse({ ...WHOLE, store }).config.store;

  test("is retention, a database, or both", () => {
    const url = "postgres://user@host:5432/episodes";
    expect(storeOf({ keep_tokens: 3 })).toEqual({ keep_tokens: 3 });
    expect(storeOf(url)).toEqual({ url, keep_tokens: 50 });
    expect(storeOf({ url, keep_tokens: 3 })).toEqual({ url, keep_tokens: 3 });
  });

  test.each(["postgres://user:pass-word@host/db", "postgres://user@host/db?password=pass-word"])(
    "%s: a password is refused and not repeated",
    (url) => {
      for (const store of [url, { url }]) {
        const { code, message, hint } = errorOf({ ...WHOLE, store });
        expect(code).toBe("CONFIG_INVALID");
        expect(message).toContain("PGPASSWORD");
        expect(message + hint).not.toContain("pass-word");
      }
    },
  );

  test.each(["episodes.sqlite", "mysql://host/db", "postgres://", "postgres://host"])("%s is no database", (store) => {
    expect(errorOf({ ...WHOLE, store })).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("postgres://USER@HOST:PORT/DATABASE"),
    });
  });
});
