import { expect, test } from "@jest/globals";
import { type JsonObject, type Message, type Part, textMessage, toolCalls, type ToolDefinition } from "@mrlm/kit";
import fc from "fast-check";
import { Conversations, type Match } from "../../src/gateway/conversations.ts";
import { normalForm } from "../../src/gateway/normal-form.ts";

const tool = (name: string): ToolDefinition => ({ name, description: "", parameters: { type: "object" } });
const TOOLS = [tool("search")];
const call = (id: string, given: JsonObject = { a: 1, b: [{ c: 2, d: 3 }] }): Part => ({
  type: "tool-call",
  id,
  name: "search",
  arguments: given,
});
const result = (id: string, text: string): Part => ({
  type: "tool-result",
  id,
  name: "search",
  content: [{ type: "text", text }],
  isError: false,
});
const thinking = (text: string): Part => ({ type: "thinking", text });
const user = (text: string): Message => textMessage("user", text);
const assistant = (...parts: readonly (string | Part)[]): Message => ({
  role: "assistant",
  parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
});
const results = (...parts: readonly Part[]): Message => ({ role: "tool", parts });

/** Policies as the rollouts hold them: what each agent was shown, and its own answers as they were sampled. */
class Play {
  readonly conversations = new Conversations();
  readonly many: boolean;
  readonly shown = new Map<string, Message[]>();
  readonly tools = new Map<string, readonly ToolDefinition[]>();
  calls = 0;

  constructor(many = false) {
    this.many = many;
  }

  call(
    messages: readonly Message[],
    answer: Message,
    more: { sent?: Message; tools?: readonly ToolDefinition[] } = {},
  ): Match {
    const { sent = answer, tools = [] } = more;
    const match = this.conversations.match({ messages, tools }, "main", this.many);
    const before = match.isFresh ? [] : (this.shown.get(match.agent) ?? []);
    this.shown.set(match.agent, [...before, ...match.messages, answer]);
    this.tools.set(match.agent, match.tools ?? this.tools.get(match.agent) ?? []);
    this.conversations.answered(match, "main", this.calls++, sent, sent !== answer);
    return match;
  }
}

/** Keys of a history, with the reasoning: everything but ids. */
const keysOf = (messages: readonly Message[]): string[][] =>
  normalForm(messages).map(({ key, reasoning }) => [key, reasoning]);
const first = [textMessage("system", "Help."), user("Question")];

test("an unchanged history continues; only new messages are shown, and results have our ids", () => {
  const play = new Play();
  const answer = assistant(thinking("Hm."), "I look. ", call("q7Xk2PzA1"));
  expect(play.call(first, answer, { tools: TOOLS })).toMatchObject({ kind: "first", agent: "main", tools: TOOLS });
  const echoed = [assistant(thinking("Hm."), "I look."), assistant(call("call_0", { b: [{ d: 3, c: 2 }], a: 1 }))];
  const match = play.call([...first, ...echoed, results(result("call_0", "r"))], assistant("Done"), { tools: TOOLS });
  expect(match).toMatchObject({ kind: "continues", isFresh: false, parent: 0 });
  expect(match.messages).toEqual([results(result("q7Xk2PzA1", "r"))]);
  expect(match).not.toHaveProperty("tools");
});

test("a result in another order than its call gets the id of its call", () => {
  const play = new Play();
  play.call(first, assistant(call("A", { n: 1 }), call("B", { n: 2 })));
  const history = [...first, assistant(call("x", { n: 1 }), call("y", { n: 2 }))];
  const match = play.call([...history, results(result("y", "2")), results(result("x", "1"))], assistant("Done"));
  expect(match.messages).toEqual([results(result("A", "1"), result("B", "2"))]);
});

const answer = assistant(thinking("Hm."), "Text", call("A"));
const done = results(result("A", "r"));
test.each<[string, Match["kind"], readonly Message[]]>([
  ["the same reasoning", "continues", [...first, answer, done]],
  ["other reasoning", "rewritten", [...first, assistant(thinking("Ha."), "Text", call("A")), done]],
  ["no reasoning", "rewritten", [...first, assistant("Text", call("A")), done]],
  ["other text", "rewritten", [...first, assistant(thinking("Hm."), "Other", call("A")), done]],
  ["other arguments", "rewritten", [...first, assistant(thinking("Hm."), "Text", call("A", { a: 2 })), done]],
  ["another system message", "rewritten", [textMessage("system", "It is 9:30."), user("Question"), answer, done]],
  ["a summary of the past", "rewritten", [user("Summary"), answer, done]],
  ["an answer that the policy did not give", "rewritten", [...first, answer, done, assistant("Mine"), user("More")]],
  ["another conversation", "forked", [textMessage("system", "Help."), user("Other")]],
  ["the same history again", "forked", first],
])("a history with %s: %s", (_, kind, messages) => {
  for (const many of [false, true]) {
    const play = new Play(many);
    play.call(first, answer);
    const match = play.call(messages, assistant("Done"));
    expect(match.kind).toBe(kind);
    expect(match.agent).toBe(many ? (kind === "forked" ? "main#2" : "main#1") : "main");
    expect(match.isFresh).toBe(kind !== "continues" && !(many && kind === "forked"));
  }
});

test("other tools are shown, and the conversation continues", () => {
  const play = new Play();
  play.call(first, assistant("A"), { tools: TOOLS });
  const history = [...first, assistant("A"), user("B")];
  expect(play.call(history, assistant("C"), { tools: [] })).toMatchObject({ kind: "continues", tools: [] });
  expect(play.call([...history, assistant("C"), user("D")], assistant("E"))).not.toHaveProperty("tools");
});

test("an answer of which the program has read a part starts the conversation over", () => {
  const play = new Play();
  play.call(first, assistant("One. Two."), { sent: assistant("One.") });
  const history = [...first, assistant("One."), user("Next")];
  expect(play.call(history, assistant("Three."))).toMatchObject({ kind: "cut", isFresh: true, messages: history });
  expect(play.call([...history, assistant("Three."), user("?")], assistant("!"))).toMatchObject({ kind: "continues" });
});

test("a main agent continues after its sub-agent; with one agent both start over", () => {
  for (const many of [true, false]) {
    const play = new Play(many);
    const main = [...first, assistant("I delegate."), user("Report")];
    play.call(first, assistant("I delegate."));
    const sub = play.call([user("Search")], assistant("Found"));
    const next = play.call(main, assistant("Done"));
    expect([sub.agent, sub.isFresh]).toEqual(many ? ["main#2", false] : ["main", true]);
    expect([next.agent, next.isFresh]).toEqual(many ? ["main#1", false] : ["main", true]);
  }
});

test("a sub-agent with the first message of its agent is another one; a history with an added message is not", () => {
  const play = new Play(true);
  const place = user("You work in /workspace.");
  expect(play.call([place, user("Repair it.")], assistant("I ask another.")).agent).toBe("main#1");
  expect(play.call([place, user("Find the fault.")], assistant("Found."))).toMatchObject({
    ...{ kind: "forked", agent: "main#2" },
  });
  const summary = user("Summary: I asked another.");
  expect(play.call([place, user("Repair it."), summary], assistant("Done."))).toMatchObject({
    ...{ kind: "rewritten", agent: "main#1" },
  });
});

test("a full context: the next agent of a role with many continues, one agent does not", () => {
  for (const many of [true, false]) {
    const play = new Play(many);
    play.call(first, assistant("A"));
    const history = [...first, assistant("A"), user("B")];
    const full = play.conversations.match({ messages: history, tools: [] }, "main", many);
    play.conversations.exhausted(full, "main", play.calls++);
    for (const messages of [history, [...history, user("C")], first.slice(0, 2)]) {
      const next = play.conversations.match({ messages, tools: [] }, "main", many);
      expect(next).toMatchObject(many ? { agent: "main#2", isFresh: false, messages } : { kind: "exhausted" });
    }
  }
});

/** Changes that SDKs make to a history without another meaning. */
const harmless: Readonly<Record<string, (history: readonly Message[]) => Message[]>> = {
  none: (history) => [...history],
  ids: (history) => renamed(history, (i) => `call_${i}`),
  repeatedIds: (history) => renamed(history, (_, c) => `call_${c}`),
  keys: (history) =>
    history.map((message) => ({
      ...message,
      parts: message.parts.map((part) =>
        part.type === "tool-call"
          ? { ...part, arguments: Object.fromEntries(Object.entries(part.arguments).toReversed()) }
          : part,
      ),
    })),
  divided: (history) =>
    history.flatMap((message) =>
      message.role === "user" || message.role === "system"
        ? [message]
        : message.parts.map((part) => ({ ...message, parts: [part] })),
    ),
  space: (history) =>
    history.map((message) => ({
      ...message,
      parts: message.parts.map((part) => (part.type === "text" ? { ...part, text: ` ${part.text}\r\n` } : part)),
    })),
  order: (history) =>
    history.map((message) => (message.role === "tool" ? { ...message, parts: message.parts.toReversed() } : message)),
};

function renamed(history: readonly Message[], name: (message: number, call: number) => string): Message[] {
  const ids = new Map<string, string>();
  return history.map((message, i) => {
    toolCalls(message).forEach(({ id }, c) => ids.set(id, name(i, c)));
    return {
      ...message,
      parts: message.parts.map((part) =>
        part.type === "tool-call" || part.type === "tool-result" ? { ...part, id: ids.get(part.id) ?? part.id } : part,
      ),
    };
  });
}

const text = fc.constantFrom("a", "b", "c d", "e\nf");
const answers = fc.record({
  reasoning: fc.boolean(),
  text,
  calls: fc.integer({ min: 0, max: 3 }),
  isCut: fc.boolean(),
});
const turns = fc.record({
  answer: answers,
  /** Next change of the history. */
  next: fc.constantFrom("on", "on", "on", "edit", "system", "compact", "fork", "again", "other", "tools", "drop"),
  text,
});
const mutations = fc.constantFrom(...Object.keys(harmless));

test("every agent reads what the program sent, under every mutation of an SDK", () => {
  fc.assert(
    fc.property(fc.array(turns, { minLength: 2, maxLength: 12 }), mutations, fc.boolean(), (script, mutation, many) => {
      const play = new Play(many);
      let history: Message[] = [textMessage("system", "s"), user("begin")];
      let tools: readonly ToolDefinition[] = [];
      let earlier: Message[] = history;
      let ids = 0;
      /** Undefined: it depends on what the changed history has in common with others. */
      let expected: Match["kind"] | undefined = "first";
      for (const [i, { answer: made, next, text: more }] of script.entries()) {
        const calls = Array.from({ length: made.calls }, (_, n) => call(`id${ids++}`, { n, i, z: "x" }));
        const whole = assistant(...(made.reasoning ? [thinking(`r${i}`)] : []), `${made.text}${i}`, ...calls);
        const sent = made.isCut ? assistant(made.text) : whole;
        const given = (harmless[mutation] as (typeof harmless)[string])(history);
        const match = play.call(given, whole, { tools, sent });
        const shown = (play.shown.get(match.agent) as Message[]).slice(0, -1);

        expect(keysOf(shown)).toEqual(keysOf(given));
        expect(play.tools.get(match.agent)).toEqual(tools);
        const known = new Set<string>();
        for (const message of shown) {
          for (const { id } of toolCalls(message)) known.add(id);
          for (const part of message.parts) if (part.type === "tool-result") expect(known).toContain(part.id);
        }
        if (expected !== undefined) expect(match.kind).toBe(expected);
        if (match.kind === "continues") expect(match.isFresh).toBe(false);

        const continued = [...history, sent, ...(made.isCut || calls.length === 0 ? [user(more)] : [])];
        if (!made.isCut && calls.length > 0)
          continued.push(results(...calls.map((each, n) => result((each as { id: string }).id, `${more}${n}`))));
        expected = undefined;
        if (next === "fork") [history, earlier] = [[...earlier, user(`f${i}`)], history];
        else if (next === "other") history = [user(`other ${i}`)];
        else if (next === "compact") history = [user(`sum ${i}`), sent, ...continued.slice(history.length + 1)];
        else if (next === "system") history = [textMessage("system", `s${i}`), ...continued.slice(1)];
        else if (next === "edit") history = [...history, assistant(`edited ${i}`), user(more)];
        else if (next === "drop") history = [...history, user(`dropped ${i}`)];
        else if (next !== "again") {
          if (next === "tools") tools = tools.length === 0 ? TOOLS : [];
          earlier = history;
          history = continued;
          expected = made.isCut ? "cut" : "continues";
        }
      }
    }),
    { numRuns: 500 },
  );
});
