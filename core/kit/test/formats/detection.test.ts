import { describe, expect, test } from "@jest/globals";
import { textMessage } from "../../src/index.ts";
import { TOOL_FORMAT_NAMES, characterTokenizerFiles, chatRenderer } from "../../src/renderer.ts";
import type { ToolFormatName } from "../../src/renderer/formats/formats.ts";
import { templateOf } from "./models.ts";

const LOOP = "{% for message in messages %}{{ message.content + '<|end|>' }}{% endfor %}";

function rendererOf(
  template: string | readonly { name: string; template: string }[],
  options: { toolFormat?: ToolFormatName; tags?: readonly string[]; file?: string } = {},
) {
  const files = characterTokenizerFiles({ tags: options.tags ?? [] });
  const config = JSON.parse(new TextDecoder().decode(files["tokenizer_config.json"])) as object;
  const tokenizerFiles = {
    ...files,
    "tokenizer_config.json": new TextEncoder().encode(JSON.stringify({ ...config, chat_template: template })),
    ...(options.file === undefined
      ? {}
      : { "additional_chat_templates/tool_use.jinja": new TextEncoder().encode(options.file) }),
  };
  return chatRenderer({
    tokenizerFiles,
    eosTokenIds: [],
    ...(options.toolFormat === undefined ? {} : { toolFormat: options.toolFormat }),
  });
}

/** Returns a template that contains a text, as a comment. */
const withText = (...texts: readonly string[]): string => `${LOOP}{# ${texts.join(" ")} #}`;

describe("the format", () => {
  test.each<[ToolFormatName | undefined, string]>([
    ["hermes", withText("tool_calls", "<tool_call>")],
    ["qwen-coder", withText("tool_calls", "<tool_call>", "<function=")],
    ["mistral", withText("tool_calls", "[TOOL_CALLS]")],
    ["llama-json", withText("tool_calls", "<|start_header_id|>", '"parameters": ')],
    ["llama-json", withText("tool_calls", "<|python_tag|>")],
    ["llama-pythonic", withText("<|start_header_id|>", "[func_name1(params_name1=params_value1)]")],
    ["llama-json", withText("<|python_start|>", '"parameters": ')],
    ["llama-pythonic", withText("<|python_start|>")],
    ["deepseek", withText("tool_calls", "<｜tool▁calls▁begin｜>")],
    ["kimi", withText("tool_calls", "<|tool_call_begin|>")],
    ["pythonic", withText("[func_name1(params_name1=params_value1)]")],
    ["hermes", LOOP],
    [undefined, withText("tool_calls", "<tool_call>", "<arg_key>")],
    [undefined, withText("tool_calls", "<|start_header_id|>", "<function=")],
    [undefined, withText("tool_calls", "<a_form_of_its_own>")],
  ])("is %s by the template %s", (expected, template) => {
    expect(rendererOf(template).toolFormat).toBe(expected);
  });

  test.each(TOOL_FORMAT_NAMES)("%s is detected from the template of its test model", (name) => {
    const expected = name === "llama-pythonic" || name === "pythonic" ? "hermes" : name;
    const files = characterTokenizerFiles();
    const template = new TextEncoder().encode(
      templateOf(name) + (name === "llama-json" ? "{# <|start_header_id|> #}" : ""),
    );
    expect(
      chatRenderer({ tokenizerFiles: { ...files, "chat_template.jinja": template }, eosTokenIds: [] }).toolFormat,
    ).toBe(expected);
  });

  test("is that of a special token if the template renders no calls", () => {
    expect(rendererOf(LOOP, { tags: ["[TOOL_CALLS]"] }).toolFormat).toBe("mistral");
    expect(rendererOf(withText("<tool_call>"), { tags: ["[TOOL_CALLS]"] }).toolFormat).toBe("hermes");
  });

  test("is that of the options before all others, and changes the fingerprint", () => {
    const renderer = rendererOf(withText("<tool_call>"), { toolFormat: "kimi" });
    expect(renderer.toolFormat).toBe("kimi");
    expect(renderer.fingerprint).not.toBe(rendererOf(withText("<tool_call>")).fingerprint);
  });

  test("that no parser reads is an error only where tools are offered", () => {
    const tools = [{ name: "f", description: "", parameters: {} }];
    const template = `{% if tools %}{{ tools | tojson }}{% endif %}${withText("tool_calls", "<arg_key>")}`;
    const renderer = rendererOf(template);
    const ask = textMessage("user", "a");
    expect(renderer.decode(renderer.render([ask]).tokens)).toBe("a<|end|>");
    expect(() => renderer.render([ask], tools)).toThrow(
      expect.objectContaining({
        code: "TOOLS_UNSUPPORTED",
        message: expect.stringContaining("in a form that no parser reads"),
      }),
    );
    expect(() => rendererOf(template, { toolFormat: "hermes" }).render([ask], tools)).not.toThrow();
  });
});

describe("the template tool_use", () => {
  const tools = [{ name: "f", description: "", parameters: {} }];
  const ask = textMessage("user", "a");
  const toolUse = `{{ 'tools: ' + tools[0].function.name + ' ' }}${withText("[TOOL_CALLS]")}`;

  test.each([
    [
      "an entry of tokenizer_config.json",
      rendererOf([
        { name: "default", template: LOOP },
        { name: "tool_use", template: toolUse },
      ]),
    ],
    ["a file", rendererOf(LOOP, { file: toolUse })],
  ])("in %s renders conversations with tools", (_, renderer) => {
    expect(renderer.decode(renderer.render([ask]).tokens)).toBe("a<|end|>");
    expect(renderer.decode(renderer.render([ask], []).tokens)).toBe("a<|end|>");
    expect(renderer.decode(renderer.render([ask], tools).tokens)).toBe("tools: f a<|end|>");
    expect(renderer.toolFormat).toBe("mistral");
    expect(renderer.fingerprint).not.toBe(rendererOf(LOOP).fingerprint);
  });

  test("may be the only template, which refuses conversations without tools", () => {
    const renderer = rendererOf(toolUse);
    expect(renderer.decode(renderer.render([ask], tools).tokens)).toBe("tools: f a<|end|>");
  });
});
