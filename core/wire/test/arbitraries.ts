import fc from "fast-check";
import type {
  Action,
  Demonstration,
  ImagePart,
  JsonObject,
  Message,
  Observation,
  Part,
  Reward,
  StepResult,
  TextPart,
  ToolDefinition,
} from "@mrlm/spec";
import { MAX_REWARD } from "@mrlm/spec/host";

/** Arbitrary Unicode text; keys include `__proto__`. */
export const text = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.constant("__proto__"));
export const object = fc
  .dictionary(text, fc.jsonValue({ maxDepth: 2, noUnicodeString: false } as fc.JsonSharedConstraints), { maxKeys: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

/** Number without negative zero, which a proto3 field does not keep. */
export const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const amount = fc.double({ noNaN: true, min: -MAX_REWARD, max: MAX_REWARD }).map((value) => value + 0);
const textPart: fc.Arbitrary<TextPart> = fc.record({ type: fc.constant("text" as const), text });
const imagePart: fc.Arbitrary<ImagePart> = fc.record({
  type: fc.constant("image" as const),
  mediaType: text,
  source: fc.oneof(fc.record({ data: fc.uint8Array() }), fc.record({ url: text })),
});
export const part: fc.Arbitrary<Part> = fc.oneof(
  textPart,
  fc.record({ type: fc.constant("thinking" as const), text }),
  imagePart,
  fc.record({ type: fc.constant("tool-call" as const), id: text, name: text, arguments: object }),
  fc.record({
    type: fc.constant("malformed-call" as const),
    text,
    format: text,
    error: text,
    offset: fc.nat({ max: 2 ** 32 - 1 }),
  }),
  fc.record({
    type: fc.constant("tool-result" as const),
    id: text,
    name: text,
    content: fc.array(fc.oneof(textPart, imagePart), { maxLength: 3 }),
    isError: fc.boolean(),
  }),
);
export const message: fc.Arbitrary<Message> = fc.record(
  {
    role: fc.constantFrom("system", "user", "assistant", "tool"),
    name: fc.string({ minLength: 1 }),
    parts: fc.array(part, { maxLength: 4 }),
  },
  { requiredKeys: ["role", "parts"] },
);
export const tool: fc.Arbitrary<ToolDefinition> = fc.record({ name: text, description: text, parameters: object });
export const action: fc.Arbitrary<Action> = fc.record({
  agent: text,
  message,
  finishReason: fc.constantFrom("stop", "length", "exhausted"),
});
export const observation: fc.Arbitrary<Observation> = fc.record(
  {
    agent: text,
    messages: fc.array(message, { maxLength: 3 }),
    isFresh: fc.constant(true),
    maxTokens: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    tools: fc.array(tool, { maxLength: 3 }),
    info: object,
  },
  { requiredKeys: ["agent", "messages"] },
);
export const reward: fc.Arbitrary<Reward> = fc.oneof(
  fc.record({
    scored: fc.constant(true as const),
    value: amount,
    components: fc.dictionary(text, amount, { noNullPrototype: true }),
  }),
  fc.record({ scored: fc.constant(false as const), code: text, message: text }),
);
const flags = fc.dictionary(text, fc.boolean(), { maxKeys: 3, noNullPrototype: true });
export const stepResult: fc.Arbitrary<StepResult> = fc.record(
  {
    observation,
    rewards: fc.dictionary(text, reward, { maxKeys: 3, noNullPrototype: true }),
    terminated: flags,
    truncated: flags,
    info: object,
  },
  { requiredKeys: ["observation", "rewards", "terminated", "truncated"] },
);
export const demonstration: fc.Arbitrary<Demonstration> = fc.record(
  {
    task: text,
    agent: text,
    messages: fc.array(message, { maxLength: 3 }),
    tools: fc.array(tool, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ["task", "agent", "messages"] },
);
