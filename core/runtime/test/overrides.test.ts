import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { parse } from "yaml";
import { parseConfig } from "@mrlm/runtime";
import { withOverrides } from "../src/config/overrides.ts";
import { playerOverrides } from "../src/config/player-overrides.ts";
import { readYaml } from "../src/config/source-text.ts";

const TEXT = `name: base
model: { random: { config: { model_type: qwen2 } } }
stages:
  - { algorithm: sft, steps: 5 }
  - { algorithm: grpo, learning_rate: 1.0e-3 }
sampling: { temperature: 0.9 }
`;
const load = (...overrides: string[]) => parseConfig(TEXT, { path: "run.yaml", overrides });
const refused = (overrides: readonly string[], code: string, message: RegExp): void =>
  expect(() => load(...overrides)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));

test("keys that are set count before the file's, the later ones first, and what follows from them follows", () => {
  const { config, text } = load(
    "stages.1.learning_rate=1e-4",
    "stages[1].group_size=4",
    "seed=2",
    "seed=3",
    "eval.tasks=16",
    "sampling.temperature=0.5",
    "model.lora={ rank: 8, alpha: 16 }",
    "tags=[a, b]",
  );
  expect(config).toMatchObject({
    seed: 3,
    policies: { policy: { random: { seed: 3 }, lora: { rank: 8, alpha: 16 } } },
    stages: [
      { learners: { policy: { options: { steps: 5 } } }, sampling: { temperature: 0.5 } },
      { learners: { policy: { options: { learning_rate: 1e-4, group_size: 4 } } } },
    ],
    eval: { tasks: 16 },
    tags: ["a", "b"],
  });
  expect(text).toContain(`${TEXT}# --set stages.1.learning_rate=1e-4\n`);
  expect(parse(text)).toEqual(parse(TEXT));
  expect(load().text).toBe(TEXT);
});

test("an error in an assignment names its flag and the nearest key", () => {
  const cases: [string, RegExp][] = [
    ["sed=3", /^--set sed: unknown key "sed"\. Did you mean "seed"\?$/],
    [
      "sampling.temprature=1",
      /^--set sampling.temprature: unknown key "temprature" in sampling\. Did you mean "temperature"\?$/,
    ],
    ["sampling.temperature=hot", /^--set sampling.temperature: sampling.temperature: .*number/],
    ["checkpoint.every.often=1", /^--set checkpoint.every.often: checkpoint.every/],
  ];
  for (const [override, message] of cases) refused([override], "CONFIG_INVALID", message);
  refused(["seed=1", "sampling.temperature=hot"], "CONFIG_INVALID", /^--set sampling.temperature:/);
});

test("U9: a fault of an entry that a flag changes names the place in the file and the flag", () => {
  const source = withOverrides(readYaml(TEXT, "run.yaml"), ["stages.1.group_size=1", "seed=3"]);
  expect([source.locate(["stages", 1]), source.locate(["stages", 0]), source.locate([])]).toEqual([
    "run.yaml:5:5, with --set stages.1.group_size",
    "run.yaml:4:5",
    "run.yaml:1:1",
  ]);
});

test("what is no assignment, or leads nowhere, is USAGE with what there is", () => {
  for (const none of ["seed", "=3", "sampling..x=1", "seed=[1"]) refused([none], "USAGE", /^--set/);
  refused(["stages.2.steps=1"], "USAGE", /stages is a list of 2/);
  refused(["stages.grpo.steps=1"], "USAGE", /stages is a list of 2, and grpo is not one/);
  refused(["name.first=x"], "USAGE", /name is "base"/);
});

test("any value arrives as the file would have had it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 2 }), (value) =>
      expect(load(`stages.1.x=${JSON.stringify(value)}`).config.stages[1]?.learners["policy"]?.options["x"]).toEqual(
        parse(JSON.stringify(value)),
      ),
    ),
    { numRuns: 100 },
  );
});

test("a player of the command line keeps its role, where the configuration shuffles the sides", () => {
  const text = [
    "model: { path: m }",
    "environments: [{ id: nim, players: { first: policy, second: { scripted: random } }, sides: shuffle }]",
    "stages: [{ algorithm: grpo, steps: 1 }]",
  ].join("\n");
  const options = { path: "run.yaml" };
  const overrides = playerOverrides(parseConfig(text, options), "nim@1", ["second={scripted: optimal}"], "/");
  expect(parseConfig(text, { ...options, overrides }).config.environments[0]).toMatchObject({
    players: { first: { policy: "policy" }, second: { scripted: "optimal" } },
    sides: "fixed",
  });
});
