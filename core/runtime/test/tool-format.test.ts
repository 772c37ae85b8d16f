import { afterAll, describe, expect, test } from "@jest/globals";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { characterTokenizerFiles, type ChatRenderer } from "@mrlm/kit/renderer";
import { directoryRenderer, parseConfig, RunDirectory } from "@mrlm/runtime";
import { loadedModel } from "../src/models/loaded-model.ts";
import { loadFrozen } from "../src/models/load-frozen.ts";
import type { CreatedModel } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const TEMPLATE =
  "{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}{{ '<|assistant|>' }}";
const USE = "additional_chat_templates/tool_use.jinja";
/** Files of a model whose template for tools is that of Mistral. */
const files = {
  ...characterTokenizerFiles(),
  "chat_template.jinja": new TextEncoder().encode(TEMPLATE),
  [USE]: new TextEncoder().encode(`{{ tools | tojson }}${TEMPLATE}{# [TOOL_CALLS] #}`),
};
const parse = (model: string) =>
  parseConfig(`${model}\nenvironments: [{id: e}]\nstages: [{algorithm: sft, steps: 1}]\n`, { path: "run.yaml" });
const formatOf = ({ renderer }: { readonly renderer: unknown }) => (renderer as ChatRenderer).toolFormat;

describe("tool_format", () => {
  test("stands in model and in a policy", () => {
    const model = "{path: /m, tool_format: qwen-coder}";
    expect(parse(`model: ${model}`).config.policies["policy"]?.tool_format).toBe("qwen-coder");
    expect(parse(`policies: {a: ${model}}`).config.policies["a"]?.tool_format).toBe("qwen-coder");
  });

  test("is refused with its line if there is no such format", () => {
    expect(() => parse("model:\n  path: /m\n  tool_format: qwen")).toThrow(
      /run\.yaml:3:16: model\.tool_format: must be one of hermes, qwen-coder, .*"qwen"/,
    );
    expect(() => parse("policies:\n  a: {path: /m, tool_format: 1}")).toThrow(
      /run\.yaml:2:30: policies\.a\.tool_format/,
    );
  });

  test("overrides the format of the template, also for frozen models with the same template", async () => {
    const engine = new BigramEngine();
    const model = "policy";
    const source = { kind: "random", config: { vocab_size: 110 }, seed: 0, tokenizerFiles: files } as const;
    const { info, tokenizerFiles }: CreatedModel = await engine.createModel({
      model,
      role: "policy",
      trainable: true,
      source,
    });
    expect(formatOf(loadedModel(tokenizerFiles, info))).toBe("mistral");
    const directory = temporaryDirectory();
    await engine.export(model, join(directory, "same"));
    await engine.export(model, join(directory, "other"));
    writeFileSync(join(directory, "other", USE), "{{ tools | tojson }}{# <|tool_call_begin|> #}");
    const { config } = parse("model: {path: /m, tool_format: hermes}");
    const policy = loadedModel(tokenizerFiles, info, { tool_format: "hermes" });
    const frozen = ["same", "other"].map((name) => ({ model: name, path: join(directory, name) }));
    const loaded = await loadFrozen(engine, frozen, { config, policies: new Map([["policy", policy]]) });
    expect([...loaded.values()].map(formatOf)).toEqual(["hermes", "kimi"]);
  });
});

describe("the template for conversations with tools", () => {
  test("is read from a model directory", () => {
    const directory = temporaryDirectory();
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), content);
    }
    expect(formatOf(directoryRenderer(directory))).toBe("mistral");
    expect(formatOf(directoryRenderer(directory, { tool_format: "kimi" }))).toBe("kimi");
  });

  test("is stored in a run and read again", () => {
    const { config } = parse("model: {path: /m}");
    const run = RunDirectory.create({ ...config, output: { ...config.output, directory: temporaryDirectory() } }, "");
    run.writeTokenizer(files);
    expect(run.readTokenizer()).toEqual(files);
  });
});
