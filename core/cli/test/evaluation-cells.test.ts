import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { loadConfig } from "@mrlm/runtime";
import { declareEval, type EvalOptions } from "../src/declarations/eval.ts";
import { evaluationCells, evaluationFlags } from "../src/services/evaluation-cells.ts";
import { EvaluationRun } from "../src/services/evaluation-run.ts";
import { type GivenOptions, parseOptions } from "./support/parse-options.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "mrlm-cells-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const flagsOf = (given: GivenOptions<EvalOptions>, recorded?: ReturnType<typeof evaluationFlags>) =>
  evaluationFlags(parseOptions(declareEval, given), recorded);
const cellsOf = (given: GivenOptions<EvalOptions>) => evaluationCells(flagsOf(given));

function config(text: string): string {
  const path = join(folder, "matrix.yaml");
  writeFileSync(path, text);
  return path;
}

const MATRIX = `
models:
  small: runs/one
  gpt: { model: "openai:gpt-x", base_url: "http://localhost:1/v1", options: { temperature: null }, sampling: { max_tokens: 9 } }
eval:
  tasks: 20
  samples: 3
  environments:
    - { id: math, options: { difficulty_range: 1 } }
    - { id: nim, players: { second: { scripted: random } } }
    - { id: nim, players: { second: { scripted: optimal } } }
`;

describe("the models and environments of mrlm eval", () => {
  test("are one of each by flags, with the defaults of the command", () => {
    const { name, cells } = cellsOf({ model: "openai:x", environment: "math@2" });
    expect(name).toBe("eval-math");
    expect(cells).toMatchObject([
      {
        name: undefined,
        tasks: 100,
        samples: 1,
        args: { model: "openai:x", environment: "math@2", split: "eval" },
      },
    ]);
  });

  test("are all of a file, each environment with its own options and players", () => {
    const path = config(MATRIX);
    const { name, cells } = cellsOf({ config: path, seed: "4" });
    expect(name).toBe("matrix-eval");
    expect(cells.map((cell) => [cell.name, cell.args.environment])).toEqual([
      ...[
        ["small", "math"],
        ["small", "nim"],
        ["small", "nim"],
      ],
      ...[
        ["gpt", "math"],
        ["gpt", "nim"],
        ["gpt", "nim"],
      ],
    ]);
    expect(cells[0]).toMatchObject({ tasks: 20, samples: 3, args: { model: join(folder, "runs/one"), seed: 4 } });
    const last = cells[5];
    expect(last?.args).toMatchObject({ model: "openai:gpt-x", baseUrl: "http://localhost:1/v1", split: "eval" });
    const { eval: evaluation, policies, environments } = loadConfig(path, { overrides: last?.overrides ?? [] }).config;
    expect(environments).toEqual([]);
    expect(evaluation.environments).toMatchObject([{ id: "nim", players: { second: { scripted: "optimal" } } }]);
    expect(policies["gpt"]?.sampling).toEqual({ max_tokens: 9 });
  });

  test("may be chosen by a flag among those of a file", () => {
    const path = config(MATRIX);
    expect(cellsOf({ config: path, model: "openai:x" }).cells.map(({ args }) => args.environment)).toEqual([
      "math",
      "nim",
      "nim",
    ]);
    expect(
      cellsOf({ config: path, environment: "math", tasks: "2" }).cells.map(({ name, tasks }) => [name, tasks]),
    ).toEqual([
      ["small", 2],
      ["gpt", 2],
    ]);
  });

  test.each([
    [{ model: "x" }, "eval needs --environment, or --config with both"],
    [{ environment: "math" }, "eval needs --model, or --config with both"],
    [{ model: "x", environment: "math", tasks: "1", numEpisodes: "1" }, "two names of one number"],
  ])("are missing in %j", (given, message) => {
    expect(() => cellsOf(given)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) }),
    );
  });

  test.each([
    ["model: {path: x}\nstages: [{algorithm: none}]", {}, "eval needs --model, or `models` in"],
    ["models: {a: x}", {}, "eval needs --environment, or `eval.environments` in"],
    [MATRIX, { options: "{}" }, "--options is for one environment"],
    [MATRIX, { player: "second={scripted: random}" }, "--player is for one environment"],
  ])("are refused where a file lacks them, or flags are for one: %j", (text, given, message) => {
    const path = config(text);
    expect(() => cellsOf({ config: path, ...given })).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) }),
    );
  });

  test.each([
    ["models: {}", "names no model to measure"],
    ["models: {a: x}\nmodel: {path: y}", "leave it or `model` out"],
    ["models: {a: x}\nstages: [{algorithm: none}]", "leave it or `stages` out"],
    ["models: {critic: x}", "is the name of another model of a run"],
  ])("are refused in a wrong configuration: %j", (text, message) => {
    expect(() => loadConfig(config(text))).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(message) }),
    );
  });

  test("of a resumed evaluation are those of its begin, where no flag replaces them", () => {
    const begun = flagsOf({ model: folder, environment: "math", tasks: "5", player: "second={model: x}" });
    expect(begun).toMatchObject({ model: resolve(folder), directory: process.cwd() });
    const resumed = flagsOf(
      { resume: "run", samples: "4", retry: true, require: "accuracy >= 1" },
      { ...begun, directory: "/elsewhere" },
    );
    expect(resumed).toEqual({ ...begun, samples: 4, directory: "/elsewhere" });
  });
});

test("a run that trains is no evaluation", () => {
  writeFileSync(join(folder, "config.yaml"), "");
  writeFileSync(join(folder, "run.json"), JSON.stringify({ status: "finished" }));
  expect(() => EvaluationRun.find(folder)).toThrow(expect.objectContaining({ code: "USAGE" }));
  expect(() => EvaluationRun.find(join(folder, "none"))).toThrow(expect.objectContaining({ code: "RUN_NOT_FOUND" }));
});
