import { describe, expect, jest, test } from "@jest/globals";
import type { Message, Part, ToolDefinition } from "@mrlm/spec";
import fc from "fast-check";
import { textMessage } from "../src/index.ts";
import { characterTokenizerFiles, chatRenderer, loadTokenizer, TOOL_FORMAT_NAMES } from "../src/renderer.ts";
import type { ToolFormatName } from "../src/renderer/formats/formats.ts";
import { modelOf as modelOfFormat } from "./formats/models.ts";
import { chatTemplate } from "../src/renderer/chat-template.ts";
import { compileTemplate } from "../src/renderer/compiled-template.ts";
import { windowOf } from "../src/renderer/conversation-window.ts";
import { messageEncoder } from "../src/renderer/message-encoder.ts";
import { nextTurn } from "../src/renderer/next-turn.ts";
import { Template, Tokenizer } from "../src/renderer/packages.ts";
import { windowProbe } from "../src/renderer/probe-window.ts";

const FILES = characterTokenizerFiles({ tags: ["<tool_call>", "</tool_call>", "<think>", "</think>", "ab"] });
const TOOLS: readonly ToolDefinition[] = ["f", "g"].map((name) => ({ name, description: "", parameters: {} }));

const SHOWN =
  "{% if tools %}{{ '<|system|>' }}{% for t in tools %}{{ t.function.name + ' ' }}{% endfor %}{{ '<|end|>' }}{% endif %}";
const CALLS = `{% for call in message.tool_calls or [] %}{{ '<tool_call>{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}</tool_call>' }}{% endfor %}`;
const PROMPT = "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}";
const LOOP = "{% for message in messages %}";
const HEAD = "{{ '<|' + message.role + '|>\\n' }}";
const BODY = `{{ message.content or '' }}${CALLS}{{ '<|end|>\\n' }}`;
const REASONING =
  "{% if message.reasoning_content %}{{ '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}";

/** Writes an empty think block into the last message only. */
const LAST_BLOCK = `${SHOWN}${LOOP}${HEAD}{% if message.role == 'assistant' and loop.last and not message.reasoning_content %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}${REASONING}${BODY}{% endfor %}${PROMPT}`;

/** Index of the last question, which is no result of a tool, as Qwen 3 finds it. */
const LAST_QUESTION =
  "{% set ns = namespace(scan=true, last=messages | length - 1) %}{% for m in messages[::-1] %}{% set i = (messages | length - 1) - loop.index0 %}" +
  "{% if ns.scan and m.role == 'user' and not (m.content.startswith('<tool_response>')) %}{% set ns.scan = false %}{% set ns.last = i %}{% endif %}{% endfor %}";
const GROUPED =
  "{% if message.role == 'tool' %}{% if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{ '<|user|>' }}{% endif %}{{ '<tool_response>' + message.content + '</tool_response>' }}" +
  "{% if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|end|>\\n' }}{% endif %}{% else %}";

/** Templates by their names, and whether a window renders them for plain conversations. */
const TEMPLATES: Readonly<Record<string, readonly [source: string, isLocal: boolean]>> = {
  "all messages alike": [`${SHOWN}${LOOP}${HEAD}${REASONING}${BODY}{% endfor %}${PROMPT}`, true],
  "results grouped": [`${SHOWN}${LOOP}${GROUPED}${HEAD}${REASONING}${BODY}{% endif %}{% endfor %}${PROMPT}`, true],
  "a block in the last message": [LAST_BLOCK, true],
  "reasoning after the last question only": [
    `${LAST_QUESTION}${SHOWN}${LOOP}${GROUPED}${HEAD}{% if loop.index0 > ns.last and (loop.last or message.reasoning_content) %}{{ '<think>\\n' + (message.reasoning_content or '') + '\\n</think>\\n\\n' }}{% endif %}${BODY}{% endif %}{% endfor %}${PROMPT}`,
    true,
  ],
  "reasoning never": [`${SHOWN}${LOOP}${HEAD}${BODY}{% endfor %}${PROMPT}`, true],
  "alternating roles": [
    `{% if messages[0].role == 'system' %}{% set rest = messages[1:] %}{{ '<|system|>' + messages[0].content + '<|end|>' }}{% else %}{% set rest = messages %}{% endif %}` +
      `{% for message in rest %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles') }}{% endif %}${HEAD}${BODY}{% endfor %}${PROMPT}`,
    true,
  ],
  "tools before the last question": [
    `${LAST_QUESTION}${LOOP}{% if loop.index0 == ns.last %}${SHOWN}{% endif %}${HEAD}${BODY}{% endfor %}${PROMPT}`,
    true,
  ],
  "a switch in an earlier message": [
    `{% set ns = namespace(brief=false) %}${LOOP}{% if message.content and '/brief' in message.content %}{% set ns.brief = true %}{% endif %}${HEAD}${BODY}{% endfor %}` +
      "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% if ns.brief %}{{ 'B' }}{% endif %}{% endif %}",
    true,
  ],
  "numbered messages": [`${LOOP}${HEAD}{{ loop.index }}${BODY}{% endfor %}${PROMPT}`, false],
  "the newest ten messages": [`{% for message in messages[-10:] %}${HEAD}${BODY}{% endfor %}${PROMPT}`, false],
  "one more from message 15 on": [
    `${LOOP}${HEAD}{% if loop.index > 15 %}{{ 'x' }}{% endif %}${BODY}{% endfor %}${PROMPT}`,
    false,
  ],
  "one more from message 40 on": [
    `${LOOP}${HEAD}{% if loop.index > 40 %}{{ 'x' }}{% endif %}${BODY}{% endfor %}${PROMPT}`,
    false,
  ],
};

const modelOf = (source: string, toolFormat: ToolFormatName = "hermes") => {
  const tokenizerFiles = { ...FILES, "chat_template.jinja": new TextEncoder().encode(source) };
  const tokenizer = loadTokenizer(tokenizerFiles);
  const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [], toolFormat });
  const reader = {
    format: toolFormat,
    thinking: { open: "<think>", close: "</think>" },
    specials: new Set(tokenizer.specials.values()),
  };
  const template = chatTemplate(compileTemplate(source, {}, tokenizer.escape), reader, tokenizer);
  return { renderer, tokenizer, template };
};

const answer = (...parts: readonly Part[]): Message => ({ role: "assistant", parts });
const text = (content: string): Part => ({ type: "text", text: content });
const thinking = (content: string): Part => ({ type: "thinking", text: content });

describe("D13: a template that writes an empty think block into the last message only", () => {
  const { renderer, tokenizer } = modelOf(LAST_BLOCK);
  const stop = renderer.stopTokenIds[0] as number;
  /** Tokens of "ab" that the tokenizer would not give: "ab" is one token. */
  const sampled = Int32Array.of(tokenizer.idOf("a") as number, tokenizer.idOf("b") as number);

  /** Plays turns; returns the tokens of each prompt, and whether it extends the one before. */
  function play(turns: number, ends: readonly number[]) {
    let history: Message[] = [textMessage("user", "q")];
    let tokens = renderer.render(history).tokens;
    const kinds: string[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const before = Int32Array.from([...tokens, ...sampled, ...ends]);
      history = [...history, renderer.parse(Int32Array.from([...sampled, ...ends]), { prompt: tokens })];
      const next = [textMessage("user", `${turn}`)];
      const extension = renderer.extend(before, history, next);
      kinds.push(extension.kind);
      tokens = extension.kind === "extend" ? Int32Array.from([...before, ...extension.tokens]) : extension.tokens;
      history = [...history, ...next];
      expect(renderer.decode(tokens)).toBe(renderer.decode(renderer.render(history).tokens));
    }
    return { kinds, tokens };
  }

  test.each([
    ["that ended", [stop]],
    ["that its limit cut", []],
  ])("extends the sampled tokens of an answer %s, which are not tokenised again", (_, ends) => {
    const { kinds, tokens } = play(8, ends);
    expect(kinds).toEqual(Array.from({ length: 8 }, () => "extend"));
    expect(tokens.filter((token) => token === sampled[1])).toHaveLength(8);
  });

  test("restarts where the sampled tokens are no prefix: the policy wrote the block itself", () => {
    const history = [textMessage("user", "q")];
    const tokens = tokenizer.encode(
      `${renderer.decode(renderer.render(history).tokens)}<think>\n\n</think>\n\nab<|end|>`,
    );
    const whole = [...history, answer(thinking(""), text("ab")), textMessage("user", "r")];
    const extension = renderer.extend(tokens, whole.slice(0, 2), whole.slice(2));
    expect(extension).toEqual({ kind: "restart", tokens: renderer.render(whole).tokens });
  });

  test("D15: is learnt as a policy samples it: the tokens of the episode, without the block", () => {
    let messages: Message[] = [textMessage("user", "q")];
    for (let turn = 0; turn < 8; turn++) messages = [...messages, answer(text("xyz")), textMessage("user", `${turn}`)];
    messages = messages.slice(0, -1);
    const sequences = renderer.supervise(messages);
    expect(sequences).toHaveLength(1);
    const { tokens, mask } = sequences[0] as (typeof sequences)[number];
    expect(renderer.decode(tokens.filter((_, i) => mask[i] === 1))).toBe("xyz<|end|>".repeat(8));
    expect(renderer.decode(tokens)).not.toContain("<think>");
  });

  test("D15: reasoning of a message is learnt, an empty one too", () => {
    for (const [content, shown] of [
      ["hm", "<think>\nhm\n</think>\n\nab<|end|>"],
      ["", "<think>\n\n</think>\n\nab<|end|>"],
    ] as const) {
      const [sequence] = renderer.supervise([textMessage("user", "q"), answer(thinking(content), text("ab"))]);
      expect(renderer.decode(sequence?.tokens.filter((_, i) => sequence.mask[i] === 1) as Int32Array)).toBe(shown);
    }
  });
});

/** Turns of a conversation: an answer and what follows it. */
const turns = fc.array(
  fc.record({
    kind: fc.constantFrom("text", "one", "two", "users"),
    reasoning: fc.constantFrom("", "", "hm"),
    content: fc.constantFrom("a", "b ", "\nc", "<tool_response>d", "</think>e", "/brief", "<|end|>"),
  }),
  { minLength: 5, maxLength: 30 },
);

function conversation(
  made: readonly { kind: string; reasoning: string; content: string }[],
  hasSystem: boolean,
): Message[] {
  const start = [...(hasSystem ? [textMessage("system", "s")] : []), textMessage("user", "q")];
  return [
    ...start,
    ...made.flatMap(({ kind, reasoning, content }, i): Message[] => {
      const reason = reasoning === "" ? [] : [thinking(reasoning)];
      const user = textMessage("user", content);
      if (kind === "text" || kind === "users")
        return [answer(...reason, text(content)), user, ...(kind === "users" ? [user] : [])];
      const ids = TOOLS.slice(0, kind === "one" ? 1 : 2).map(({ name }, n) => ({ id: `call${1000 + i}${n}`, name }));
      return [
        answer(
          ...reason,
          ...(kind === "two" ? [text(content)] : []),
          ...ids.map((id): Part => ({ type: "tool-call", ...id, arguments: { k: content } })),
        ),
        {
          role: "tool",
          parts: ids.map((id): Part => ({
            type: "tool-result",
            ...id,
            content: [{ type: "text", text: content }],
            isError: false,
          })),
        },
      ];
    }),
  ];
}

describe("D14: the next turn from a window of the conversation", () => {
  test.each(Object.entries(TEMPLATES))("is that of the whole conversation: %s", (_, [source]) => {
    const { renderer, tokenizer, template } = modelOf(source);
    const stops = [tokenizer.decode(Int32Array.from(renderer.stopTokenIds))];
    fc.assert(
      fc.property(turns, fc.boolean(), fc.boolean(), (made, hasSystem, hasTools) => {
        const all = conversation(made, hasSystem);
        const at = all.findLastIndex(({ role }) => role === "assistant") + 1;
        const [history, messages] = [all.slice(0, at), all.slice(at)];
        const tools = hasTools && source.includes("tools") ? TOOLS : [];
        const attempt = (work: () => unknown): unknown => {
          try {
            return work();
          } catch (cause) {
            return (cause as Error).message;
          }
        };
        const expected = attempt(() => {
          const turn = nextTurn(template, stops, history, messages, tools);
          return turn === undefined
            ? tokenizer.encode(template(all, tools, true))
            : tokenizer.encode(`${turn.stop}${turn.rest}`);
        });
        // Tokens as if the policy had sampled what the template shows.
        const tokens = attempt(() => {
          const turn = nextTurn(template, stops, history, messages, tools);
          return tokenizer.encode(turn?.sampled ?? "");
        });
        const given = tokens instanceof Int32Array ? tokens : new Int32Array();
        expect(attempt(() => renderer.extend(given, history, messages, tools).tokens)).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  test.each(Object.entries(TEMPLATES))(
    "is used where the probe of the template allows it: %s",
    (_, [source, isLocal]) => {
      const { renderer, tokenizer, template } = modelOf(source);
      const stops = [tokenizer.decode(Int32Array.from(renderer.stopTokenIds))];
      const probe = windowProbe((...given) => nextTurn(template, stops, ...given), [source]);
      const plain = conversation(
        Array.from({ length: 20 }, () => ({ kind: "text", reasoning: "", content: "a" })),
        false,
      );
      const window = windowOf(plain.slice(0, -1));
      expect(window?.messages).toHaveLength(8);
      expect(window !== undefined && probe(window, false)).toBe(isLocal);
    },
  );

  test.each(TOOL_FORMAT_NAMES)("is that of the whole conversation with calls of %s", (name) => {
    const { renderer, tokenizer } = modelOfFormat(name);
    const kinds = ["text", "one", "two"];
    const made = Array.from({ length: 16 }, (_, i) => ({ kind: kinds[i % 3] as string, reasoning: "", content: "a" }));
    const all = conversation(made, true);
    const history = all.slice(0, -1);
    expect(windowOf(history)?.messages.length).toBeLessThan(history.length);
    const whole = renderer.render(all).tokens;
    const end = whole.lastIndexOf(
      renderer.stopTokenIds[0] as number,
      whole.length - tokenizer.encode("<|user|>a<|end|><|assistant|>").length,
    );
    expect(renderer.extend(whole.subarray(0, end + 1), history, all.slice(-1))).toEqual({
      kind: "extend",
      tokens: whole.subarray(end + 1),
    });
    const results = all.slice(0, -2);
    const [call, result] = [results.slice(0, -1), results.slice(-1)];
    const longer = renderer.render(results).tokens;
    const { tokens } = renderer.extend(longer, call, result);
    expect(renderer.decode(longer).endsWith(renderer.decode(tokens))).toBe(true);
  });

  test("omits reasoning only if a kept turn has some, and no call without its result", () => {
    const made = Array.from({ length: 20 }, (_, i) => ({
      kind: "text",
      reasoning: i === 12 ? "hm" : "",
      content: "a",
    }));
    const kept = windowOf(conversation(made, false).slice(0, -1))?.messages;
    expect(kept?.some(({ parts }) => parts.some(({ type }) => type === "thinking"))).toBe(true);
    const early = made.map((one, i) => ({ ...one, reasoning: i === 2 ? "hm" : "" }));
    expect(windowOf(conversation(early, false).slice(0, -1))).toBeUndefined();
    const late: Message = {
      role: "tool",
      parts: [{ type: "tool-result", id: "call10020", name: "f", content: [], isError: false }],
    };
    const calls = conversation(
      made.map((one) => ({ ...one, kind: "one" })),
      false,
    );
    expect(windowOf(calls.slice(0, -1))).toBeDefined();
    expect(windowOf([...calls.slice(0, -2), late, ...calls.slice(-2, -1)])).toBeUndefined();
  });
});

describe("D14: tokens of messages are kept", () => {
  test("and give those of the whole text, also where text spells markers", () => {
    const { tokenizer } = modelOf(LAST_BLOCK);
    const encode = messageEncoder(tokenizer, ["<|end|>"]);
    const piece = fc.constantFrom("<|end|>", tokenizer.escape("<|end|>"), "a", " ", "\n", "ab", "<|user|>", "<|e");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const whole = pieces.join("");
        expect(encode(whole)).toEqual(tokenizer.encode(whole));
      }),
    );
  });

  test("only where the tokenizer divides the text too", () => {
    const json = JSON.parse(new TextDecoder().decode(FILES["tokenizer.json"])) as {
      added_tokens: Record<string, unknown>[];
      pre_tokenizer: unknown;
    };
    const divides = (change: (definition: typeof json) => void): boolean => {
      const changed = structuredClone(json);
      change(changed);
      const bytes = new TextEncoder().encode(JSON.stringify(changed));
      return loadTokenizer({ ...FILES, "tokenizer.json": bytes }).divides("<|end|>");
    };
    const end = (definition: typeof json) =>
      definition.added_tokens.find(({ content }) => content === "<|end|>") as Record<string, unknown>;
    expect(divides(() => {})).toBe(true);
    expect(divides((definition) => (end(definition)["rstrip"] = true))).toBe(false);
    for (const content of ["x<|end|>", "<|end|>x", "x<|e"])
      expect(divides((definition) => definition.added_tokens.push({ ...end(definition), content, id: 5 }))).toBe(false);
    expect(
      divides((definition) => {
        definition.pre_tokenizer = { type: "Metaspace", replacement: "_", prepend_scheme: "first" };
      }),
    ).toBe(false);
  });
});

/** Plays turns of 500 characters. @returns the characters that each turn renders, tokenises and decodes */
function turnCosts(source: string, turns: number): number[] {
  const { renderer } = modelOf(source);
  const joined = (...parts: readonly Int32Array[]): Int32Array => {
    const all = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) all.set(part, (at += part.length) - part.length);
    return all;
  };
  const [demonstration] = renderer.supervise([textMessage("user", "q"), answer(text("a"))]);
  const sampled = (demonstration as { tokens: Int32Array }).tokens.filter((_, t) => demonstration?.mask[t] === 1);
  const spies = [
    jest.spyOn(Template.prototype, "render"),
    jest.spyOn(Tokenizer.prototype, "encode"),
    jest.spyOn(Tokenizer.prototype, "decode"),
  ] as const;
  const read = (): number => {
    const [rendered, encoded, decoded] = spies.map(({ mock }) => mock);
    const texts = [...(rendered?.results ?? []), ...(decoded?.results ?? [])].map(({ value }) => value as string);
    for (const [given] of encoded?.calls ?? []) texts.push(given as string);
    for (const spy of spies) spy.mockClear();
    return texts.reduce((sum, { length }) => sum + length, 0);
  };
  try {
    const history: Message[] = [textMessage("user", "q".repeat(500))];
    let tokens = renderer.render(history).tokens;
    read();
    return Array.from({ length: turns }, (_, turn) => {
      const message = renderer.parse(sampled, { prompt: tokens, tools: [], takenIds: new Set() });
      const next = textMessage("user", String(turn % 10).repeat(500));
      history.push(message);
      const extension = renderer.extend(joined(tokens, sampled), history, [next]);
      expect(extension.kind).toBe("extend");
      tokens = joined(tokens, sampled, extension.tokens);
      history.push(next);
      return read();
    });
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

test.each(["all messages alike", "reasoning after the last question only"])(
  "R13: turn 128 renders as many characters as turn 16: %s",
  (name) => {
    const costs = turnCosts(TEMPLATES[name]?.[0] ?? "", 128);
    const [early, late] = [costs.slice(12, 20), costs.slice(120)].map((each) => Math.max(...each)) as [number, number];
    expect(early).toBeGreaterThan(500);
    expect(late).toBeLessThanOrEqual(1.1 * early);
  },
);
