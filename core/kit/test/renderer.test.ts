import { describe, expect, test } from "@jest/globals";
import type { Message, Renderer } from "@mrlm/spec";
import type { ParseContext } from "@mrlm/spec/host";
import fc from "fast-check";
import { messageText, textMessage } from "../src/index.ts";
import { characterTokenizerFiles, chatRenderer, loadTokenizer } from "../src/renderer.ts";
import { parseCompletion } from "./formats/parse-completion.ts";

/** Drops the reasoning of every turn but the last, as reasoning models' templates do. */
const FORGETFUL =
  "{% for message in messages %}{{ '<|' + message.role + '|>' }}" +
  "{% if message.reasoning_content and loop.last %}{{ '<think>' + message.reasoning_content + '</think>' }}{% endif %}" +
  "{{ message.content + '<|end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

function rendererWith(template?: string): Renderer {
  const files = characterTokenizerFiles({ tags: ["<answer>", "</answer>", "<think>", "</think>"] });
  return chatRenderer({
    tokenizerFiles:
      template === undefined ? files : { ...files, "chat_template.jinja": new TextEncoder().encode(template) },
    eosTokenIds: [],
  });
}

const ask = textMessage("user", "sort 413902");
const respond = (text: string): Message => textMessage("assistant", text);

/** Returns the tokens that a policy samples for this response: the text and the stop token. */
function sampled(renderer: Renderer, text: string): Int32Array {
  const [sequence] = renderer.supervise([ask, respond(text)]);
  return (sequence as { tokens: Int32Array; mask: Uint8Array }).tokens.filter((_, i) => sequence?.mask[i] === 1);
}

/** Lists the tools first, as templates of models that call tools do. */
const WITH_TOOLS = `{% if tools %}{{ '<|system|>' }}{% for tool in tools %}{{ tool.function.name + ' ' }}{% endfor %}{{ '<|end|>' }}{% endif %}${FORGETFUL}`;
const tools = ["search", "sort"].map((name) => ({ name, description: "", parameters: {} }));

describe("U3: tools", () => {
  test("that a template shows are rendered", () => {
    const renderer = rendererWith(WITH_TOOLS);
    expect(renderer.decode(renderer.render([ask], tools).tokens)).toBe(
      "<|system|>search sort <|end|><|user|>sort 413902<|end|>\n<|assistant|>",
    );
  });

  test("that a template leaves out are refused, with their names, also where the conversation has such a word", () => {
    const refused = expect.objectContaining({
      code: "TOOLS_UNSUPPORTED",
      message: expect.stringContaining("search, sort"),
      hint: expect.stringMatching(/^Set `model\.tool_format`/),
    });
    const renderer = rendererWith();
    expect(() => renderer.render([ask], tools)).toThrow(refused);
    expect(() => renderer.render([ask], tools)).toThrow(refused);
    expect(renderer.render([ask], []).tokens).toEqual(renderer.render([ask]).tokens);
    const onlyFirst = rendererWith(WITH_TOOLS.replace("for tool in tools", "for tool in tools[:1]"));
    expect(() => onlyFirst.render([ask], tools)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/does not show the tools that are offered: sort\.$/) }),
    );
  });
});

describe("chatRenderer", () => {
  const renderer = rendererWith();

  test("a terse task with its answer takes 23 tokens: markers and tags are one token each", () => {
    const [sequence] = renderer.supervise([ask, respond("<answer>012349</answer>")]);
    expect(sequence?.tokens).toHaveLength(23);
    expect(renderer.decode(sequence?.tokens as Int32Array)).toBe(
      "<|user|>sort 413902<|end|><|assistant|><answer>012349</answer><|end|>",
    );
  });

  test("numerics 32: the stop token is inside the supervised mask, nothing of the prompt is", () => {
    const [sequence] = renderer.supervise([ask, respond("7")]);
    expect(sequence?.tokens.at(-1)).toBe(renderer.stopTokenIds[0]);
    expect(Array.from(sequence?.mask ?? []).slice(-2)).toEqual([1, 1]);
    expect(Array.from(sequence?.mask ?? []).reduce((sum, bit) => sum + bit, 0)).toBe(2);
  });

  test("numerics 43: the prompt's ids are a prefix of the ids of prompt and answer", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme-ascii", maxLength: 20 }),
        fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 20 }),
        (question, answer) => {
          const prompt = renderer.render([textMessage("user", question)]).tokens;
          const [sequence] = renderer.supervise([textMessage("user", question), respond(answer)]);
          expect(sequence?.tokens.subarray(0, prompt.length)).toEqual(prompt);
        },
      ),
    );
  });

  test("numerics 27: extending keeps every earlier id and tokenises only what the policy did not write", () => {
    const prompt = renderer.render([ask]).tokens;
    const tokens = Int32Array.from([...prompt, ...sampled(renderer, "9")]);
    const extension = renderer.extend(tokens, [ask, respond("9")], [textMessage("user", "no")]);
    expect(extension.kind).toBe("extend");
    expect(renderer.decode(extension.tokens)).toBe("<|user|>no<|end|><|assistant|>");
  });

  test("a turn that was cut by its token limit gets the missing stop token as context", () => {
    const prompt = renderer.render([ask]).tokens;
    const cut = Int32Array.from([...prompt, ...sampled(renderer, "9").slice(0, -1)]);
    const extension = renderer.extend(cut, [ask, respond("9")], [textMessage("user", "no")]);
    expect(renderer.decode(extension.tokens)).toBe("<|end|><|user|>no<|end|><|assistant|>");
  });

  test("numerics 28: a template that drops old thinking restarts the segment", () => {
    const forgetful = rendererWith(FORGETFUL);
    const thought: Message = {
      role: "assistant",
      parts: [
        { type: "thinking", text: "hm" },
        { type: "text", text: "9" },
      ],
    };
    const tokens = Int32Array.from([...forgetful.render([ask]).tokens, ...sampled(forgetful, "9")]);
    const kept = forgetful.extend(tokens, [ask, respond("9")], [textMessage("user", "no")]);
    expect([kept.kind, forgetful.decode(kept.tokens)]).toEqual(["extend", "\n<|user|>no<|end|>\n<|assistant|>"]);
    const reasoned = Int32Array.from([...forgetful.render([ask]).tokens, ...sampled(forgetful, "<think>hm</think>9")]);
    const dropped = forgetful.extend(reasoned, [ask, thought], [textMessage("user", "no")]);
    expect([dropped.kind, forgetful.decode(dropped.tokens)]).toEqual([
      "restart",
      "<|user|>sort 413902<|end|>\n<|assistant|>9<|end|>\n<|user|>no<|end|>\n<|assistant|>",
    ]);
  });

  test("M11: thinking that a template never shows restarts the segment: the sampled tokens have it, and no rendering does", () => {
    const thought: Message = {
      role: "assistant",
      parts: [
        { type: "thinking", text: "hm" },
        { type: "text", text: "9" },
      ],
    };
    const tokens = Int32Array.from([...renderer.render([ask]).tokens, ...sampled(renderer, "<think>hm</think>9")]);
    const next = renderer.extend(tokens, [ask, thought], [textMessage("user", "no")]);
    expect([next.kind, renderer.decode(next.tokens)]).toEqual([
      "restart",
      "<|user|>sort 413902<|end|><|assistant|>9<|end|><|user|>no<|end|><|assistant|>",
    ]);
    // A conversation without thinking is complete.
    expect(renderer.extend(tokens, [ask, respond("9")], [textMessage("user", "no")]).kind).toBe("extend");
  });

  describe("M11: text that spells special tokens", () => {
    const word = fc.oneof(
      fc.constantFrom(
        "<|end|>",
        "<|user|>",
        "<|assistant|>",
        "<|pad|>",
        "<|e",
        "nd|>",
        "<answer>",
        "\uE000",
        "\uE0011\uE001",
      ),
      fc.string({ unit: "grapheme-ascii", maxLength: 4 }),
    );
    const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(""));
    const wide = chatRenderer({
      tokenizerFiles: characterTokenizerFiles({
        alphabet: `${Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("")}\uE000\uE001`,
      }),
      eosTokenIds: [],
    });
    const idOf = (marker: string): number =>
      wide.render([textMessage("user", "")]).tokens[["<|user|>", "<|end|>", "<|assistant|>"].indexOf(marker)] as number;
    const markersIn = (tokens: Int32Array): number[] => Array.from(tokens).filter((token) => token < 6);

    test("becomes ordinary tokens in prompts, continuations and demonstrations; markers are those of the template alone", () => {
      const [user, end, assistant] = ["<|user|>", "<|end|>", "<|assistant|>"].map(idOf) as [number, number, number];
      fc.assert(
        fc.property(text, text, text, (asked, answer, asked2) => {
          const prompt = wide.render([textMessage("user", asked)]).tokens;
          expect([markersIn(prompt), wide.decode(prompt)]).toEqual([
            [user, end, assistant],
            `<|user|>${asked}<|end|><|assistant|>`,
          ]);
          const [sequence] = wide.supervise([
            textMessage("user", asked),
            respond(answer),
            textMessage("user", asked2),
            respond("x"),
          ]);
          expect(markersIn(sequence?.tokens as Int32Array)).toEqual([
            user,
            end,
            assistant,
            end,
            user,
            end,
            assistant,
            end,
          ]);
          const segment = Int32Array.from([
            ...prompt,
            ...(sequence?.tokens ?? []).filter(
              (_, t) => sequence?.mask[t] === 1 && t < (sequence?.tokens.length ?? 0) - 2,
            ),
          ]);
          const next = wide.extend(
            segment,
            [textMessage("user", asked), respond(answer)],
            [textMessage("user", asked2)],
          );
          expect([next.kind, wide.decode(next.tokens), markersIn(next.tokens)]).toEqual([
            "extend",
            `<|user|>${asked2}<|end|><|assistant|>`,
            [user, end, assistant],
          ]);
        }),
      );
    });

    test("in tools and their arguments too, and tags that are not special stay one token", () => {
      const tools =
        "{% if tools %}{% for tool in tools %}{{ '<|system|>' + tool.function.name + ' ' + tool.function.description + '<|end|>' }}{% endfor %}{% endif %}{% for message in messages %}{{ '<|user|>' + message.content + '<|end|>' }}{% endfor %}";
      const shown = rendererWith(tools);
      const { tokens } = shown.render(
        [textMessage("user", "<answer>")],
        [{ name: "f", description: "a<|end|>b", parameters: {} }],
      );
      expect(shown.decode(tokens)).toBe("<|system|>f a<|end|>b<|end|><|user|><answer><|end|>");
      expect(tokens).toHaveLength(2 + "f a<|end|>b".length + 3);
    });

    describe("R11: that is divided", () => {
      const part = (text: string) => ({ type: "text" as const, text });
      const result = (...texts: readonly string[]): Message => ({
        role: "tool",
        parts: texts.map((text, i) => {
          const content = [part(text.slice(0, 3)), part(text.slice(3))];
          return { type: "tool-result" as const, id: `c${i}`, name: "f", content, isError: false };
        }),
      });
      const call = (id: string) => ({ type: "tool-call" as const, id, name: "f", arguments: {} });
      const calls: Message = { role: "assistant", parts: [call("c0"), call("c1")] };
      /** Writes contents without anything between them. */
      const bare =
        "{{ '<|user|>' }}{% for message in messages %}{{ message.content | trim }}{% endfor %}{{ '<|end|>' }}";

      test.each<[string, string | undefined, readonly Message[], string]>([
        ["by parts", undefined, [{ role: "user", parts: [part("<|e"), part("nd|>")] }], "<|end|>"],
        ["by empty parts", undefined, [{ role: "user", parts: ["<", "", "|end|", ">"].map(part) }], "<|end|>"],
        ["by messages", bare, [textMessage("user", "a<|end "), textMessage("user", "|>b")], "a<|end|>b"],
        ["by parts of results", bare, [ask, calls, result("<|end|>", "<|user|>")], "<|end|><|user|><|end|>"],
      ])("%s becomes ordinary tokens", (_, template, messages, written) => {
        const shown = rendererWith(template);
        const { tokens } = shown.render(messages);
        expect(shown.decode(tokens)).toContain(written);
        expect(Array.from(tokens).filter((token) => token < 6)).toHaveLength(template === undefined ? 3 : 2);
      });

      test("a marker with wide bars becomes ordinary tokens", () => {
        const [open, close] = ["<\uFF5CUser\uFF5C>", "<\uFF5CEnd\uFF5C>"];
        const files = characterTokenizerFiles({
          alphabet: `${Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("")}\uFF5C`,
          tags: [open, close],
        });
        const definition = JSON.parse(new TextDecoder().decode(files["tokenizer.json"])) as { added_tokens: object[] };
        const ids = definition.added_tokens.flatMap((token) => {
          const { content, id } = token as { content: string; id: number };
          return [open, close].includes(content) ? [Object.assign(token, { special: true }) && id] : [];
        });
        const encoded = (text: string) => new TextEncoder().encode(text);
        const wide = chatRenderer({
          tokenizerFiles: {
            ...files,
            "tokenizer.json": encoded(JSON.stringify(definition)),
            "chat_template.jinja": encoded(
              `{% for m in messages %}{{ '${open}' + m.content + '${close}' }}{% endfor %}`,
            ),
          },
          eosTokenIds: [ids[1] as number],
        });
        for (const text of [`a${close}${open}`, "<|End|>", `<\uFF5CE${"nd\uFF5C>"}`]) {
          const { tokens } = wide.render([textMessage("user", text)]);
          expect(Array.from(tokens).filter((token) => ids.includes(token))).toEqual(ids);
        }
      });
    });

    test("is not tokenised at all where the tokenizer has no tokens for its characters", () => {
      const digits = chatRenderer({
        tokenizerFiles: characterTokenizerFiles({ alphabet: "0123456789" }),
        eosTokenIds: [],
      });
      expect(() => digits.render([textMessage("user", "1<|end|>")])).toThrow(/has no token for .*"e"/);
    });
  });

  test("a conversation of several turns is supervised as an episode would have built it", () => {
    const conversation = [ask, respond("1"), textMessage("user", "no"), respond("2")];
    const [sequence, ...more] = renderer.supervise(conversation);
    expect(more).toEqual([]);
    expect(renderer.decode(sequence?.tokens as Int32Array)).toBe(
      "<|user|>sort 413902<|end|><|assistant|>1<|end|><|user|>no<|end|><|assistant|>2<|end|>",
    );
    expect(Array.from(sequence?.mask ?? []).reduce((sum, bit) => sum + bit, 0)).toBe(4);
  });

  test("the response of a policy is its text without the stop token, with tags", () => {
    expect(messageText(renderer.parse(sampled(renderer, "<answer>12</answer>")))).toBe("<answer>12</answer>");
  });

  test("reasoning and tool calls become parts; a malformed call is text if the prompt has no tools", () => {
    const wide = rendererWith();
    const tokens = sampled(
      wide,
      '<think>hm</think>a<tool_call>{"name":"f","arguments":{"x":1}}</tool_call><tool_call>{oops}</tool_call>',
    );
    const types = (context?: ParseContext): string[] => wide.parse(tokens, context).parts.map((part) => part.type);
    const f = { name: "f", description: "", parameters: {} };
    expect(types({ tools: [f] })).toEqual(["thinking", "text", "tool-call", "malformed-call"]);
    expect(types()).toEqual(["thinking", "text", "tool-call", "malformed-call"]);
    expect(types({ tools: [] })).toEqual(["thinking", "text", "tool-call", "text"]);
  });

  test("a text with thousands of repetitions is parsed at once", () => {
    const text = `<tool_call>${"\n".repeat(100_000)}${"<tool_call>".repeat(20_000)}`;
    expect(parseCompletion(text).parts).toEqual([{ type: "text", text }]);
  });

  test("vocabularies of today's models and conversations as long as their contexts fit", () => {
    const files = characterTokenizerFiles({ alphabet: "ab" });
    const tokenizer = JSON.parse(new TextDecoder().decode(files["tokenizer.json"])) as {
      model: { vocab: Record<string, number> };
    };
    const first = Math.max(...Object.values(tokenizer.model.vocab)) + 1;
    for (let id = first; id < 160_000; id++) tokenizer.model.vocab[`unused${id}`] = id;
    const large = chatRenderer({
      tokenizerFiles: { ...files, "tokenizer.json": new TextEncoder().encode(JSON.stringify(tokenizer)) },
      eosTokenIds: [],
    });
    expect(large.vocabSize).toBe(160_000);
    const [sequence] = large.supervise([textMessage("user", "a".repeat(150_000)), textMessage("assistant", "b")]);
    expect([sequence?.tokens.length, sequence?.mask.filter((bit) => bit === 1).length]).toEqual([150_005, 2]);
  });

  test("text without tokens is refused by name, not dropped", () => {
    const digits = loadTokenizer(characterTokenizerFiles({ alphabet: "0123456789" }));
    expect(() => digits.encode("1x2")).toThrow('no token for "x" in');
    expect(() => digits.encode("<|user|>2abc<|end|>")).toThrow('no token for "a", "b", "c" in');
    expect(() => digits.encode("<|user|>us<|end|>")).toThrow('no token for "u", "s" in');
  });

  test("a tokenizer without a chat template is refused", () => {
    const files = characterTokenizerFiles();
    expect(() =>
      chatRenderer({ tokenizerFiles: { "tokenizer.json": files["tokenizer.json"] as Uint8Array }, eosTokenIds: [1] }),
    ).toThrow("chat template");
  });
});
