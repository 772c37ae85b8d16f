import { describe, expect, test } from "@jest/globals";
import type { Message } from "@mrlm/spec";
import { textMessage } from "../src/index.ts";
import { IN_TURN, modelOf, WITHOUT_TOOLS } from "./formats/models.ts";

const [system, user, answer] = [textMessage("system", "s"), textMessage("user", "a"), textMessage("assistant", "b")];
/** Omits system messages without an error. */
const SILENT = WITHOUT_TOOLS.replace("{{ '<|' + m", "{% if message.role != 'system' %}{{ '<|' + m").replace(
  "{% endfor %}",
  "{% endif %}{% endfor %}",
);
const shown = (template: string, messages: readonly Message[], mergeMessages = false): string => {
  const { renderer } = modelOf("hermes", template, [], mergeMessages);
  return renderer.decode(renderer.render(messages).tokens);
};
const refused = (message: RegExp) =>
  expect.objectContaining({
    code: "TOKENIZER_INVALID",
    message: expect.stringMatching(message),
    hint: expect.stringMatching(/^Set `model\.merge_messages: true`/),
  });

describe("a conversation that a template would not render whole", () => {
  test.each([
    ["a system message that it refuses", IN_TURN, [system, user], /System role not supported/],
    ["a system message that it omits", SILENT, [system, user], /omits the system message/],
    ["two messages of the user in a row", IN_TURN, [user, user], /must alternate/],
  ])("is refused for %s, with what to set", (_, template, messages, message) => {
    expect(() => shown(template, messages)).toThrow(refused(message));
  });

  test("does not include a system message beside tools, of a template that refuses conversations without tools", () => {
    const { renderer } = modelOf("hermes", `{{ tools[0].function.name + ' ' }}${WITHOUT_TOOLS}`);
    const tools = [{ name: "f", description: "", parameters: {} }];
    expect(renderer.decode(renderer.render([system, user], tools).tokens)).toBe(
      "f <|system|>s<|end|><|user|>a<|end|><|assistant|>",
    );
  });

  test("has another hint where joined messages are refused too", () => {
    expect(() => shown(IN_TURN, [answer, user])).toThrow(
      expect.objectContaining({ hint: expect.not.stringContaining("merge_messages") }),
    );
  });
});

describe("merge_messages", () => {
  test.each([
    [IN_TURN, [system, user], "<|user|>s\n\na<|end|><|assistant|>"],
    [SILENT, [system, system, user], "<|user|>s\n\ns\n\na<|end|><|assistant|>"],
    [
      IN_TURN,
      [user, user, answer, system, user],
      "<|user|>a\n\na<|end|><|assistant|>b<|end|><|user|>s\n\na<|end|><|assistant|>",
    ],
    // A system message that a template renders stays.
    [WITHOUT_TOOLS, [system, user, user], "<|system|>s<|end|><|user|>a\n\na<|end|><|assistant|>"],
    [
      WITHOUT_TOOLS,
      [system, user, answer, user],
      "<|system|>s<|end|><|user|>a<|end|><|assistant|>b<|end|><|user|>a<|end|><|assistant|>",
    ],
  ])("joins messages (%#)", (template, messages, expected) => {
    expect(shown(template, messages, true)).toBe(expected);
  });

  test("extends the tokens of earlier turns", () => {
    const { renderer } = modelOf("hermes", IN_TURN, [], true);
    const prompt = renderer.render([system, user]).tokens;
    const whole = renderer.render([system, user, answer, user, user]).tokens;
    const sampled = whole.subarray(0, whole.indexOf(renderer.stopTokenIds[0] as number, prompt.length) + 1);
    const { kind, tokens } = renderer.extend(sampled, [system, user, answer], [user, user]);
    expect([kind, Int32Array.from([...sampled, ...tokens])]).toEqual(["extend", whole]);
  });

  test("changes the fingerprint", () => {
    expect(modelOf("hermes", IN_TURN, [], true).renderer.fingerprint).not.toBe(
      modelOf("hermes", IN_TURN).renderer.fingerprint,
    );
  });
});
