import type { JsonValue } from "@mrlm/spec";
import { MAX_REWARD } from "@mrlm/spec/host";
import { z } from "zod";
import { withoutZodPrefix } from "../plugins/schema-messages.ts";
import { isJsonObject, isPlainObject, quickAction, quickObservation, quickStepResult } from "./quick-copy.ts";

// Values that authors may return. Parsing copies the members of the contract and drops the rest, so that an observation in process equals one that was sent
// over gRPC.

const jsonObject = z.custom<Record<string, JsonValue>>(
  isJsonObject,
  "must be a JSON object, with at most 1,000 levels",
);

const text = z.object({ type: z.literal("text"), text: z.string() });
const image = z.object({
  type: z.literal("image"),
  mediaType: z.string(),
  source: z.union([z.object({ data: z.instanceof(Uint8Array) }), z.object({ url: z.string() })]),
});
const part = z.discriminatedUnion("type", [
  text,
  image,
  z.object({ type: z.literal("thinking"), text: z.string() }),
  z.object({ type: z.literal("tool-call"), id: z.string(), name: z.string(), arguments: jsonObject }),
  z.object({
    type: z.literal("malformed-call"),
    text: z.string(),
    format: z.string(),
    error: z.string(),
    offset: z.uint32(),
  }),
  z.object({
    type: z.literal("tool-result"),
    id: z.string(),
    name: z.string(),
    content: z.array(z.discriminatedUnion("type", [text, image])),
    isError: z.boolean(),
  }),
]);
const message = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  name: z.string().exactOptional(),
  parts: z.array(part),
});
const observation = z.object({
  agent: z.string(),
  messages: z.array(message),
  isFresh: z.boolean({ error: "must be true or false" }).exactOptional(),
  tools: z.array(z.object({ name: z.string(), description: z.string(), parameters: jsonObject })).exactOptional(),
  info: jsonObject.exactOptional(),
});
const amount = z
  .number({ error: "must be a finite number" })
  .refine((value) => Math.abs(value) <= MAX_REWARD, { error: `must be at most ${MAX_REWARD} from 0` });
/** Components of a reward. A name cannot be `mean` or `std`, which are metrics of the whole reward. */
const components = z
  .record(z.string(), amount)
  .refine((given) => !Object.hasOwn(given, "mean") && !Object.hasOwn(given, "std"), {
    error: "`mean` and `std` are what the metrics of the whole reward are called: name the component otherwise",
  });
const reward = z.discriminatedUnion("scored", [
  z.object({ scored: z.literal(true), value: amount, components }),
  z.object({ scored: z.literal(false), code: z.string(), message: z.string() }),
]);
const stepResult = z.object({
  observation,
  rewards: z.record(z.string(), reward),
  terminated: z.record(z.string(), z.boolean({ error: "must be true or false" })),
  truncated: z.record(z.string(), z.boolean({ error: "must be true or false" })),
  info: jsonObject.exactOptional(),
});
const action = z.object({
  agent: z.string(),
  message: message.extend({ role: z.literal("assistant") }),
  finishReason: z.enum(["stop", "length", "exhausted"]),
});
const conversation = z.array(message).min(1);
const grade = z.object({
  reward,
  verdict: z.string(),
  reason: z.string(),
  extracted: z.string().exactOptional(),
  detail: jsonObject.exactOptional(),
});
const judgement = z.object({
  rewards: z.record(z.string(), reward),
  verdict: z.string(),
  reason: z.string(),
  detail: jsonObject.exactOptional(),
});

/** The parts that the guard checks. */
const SCHEMAS = { observation, stepResult, action, conversation, grade, judgement } as const;

/** Helpers of @mrlm/kit that create each value. */
const MAKERS: Readonly<Partial<Record<keyof typeof SCHEMAS, string>>> = {
  observation: 'observe([textMessage("user", "...")])',
  stepResult: "singleStep({ messages, reward: score(1), terminated: true })",
};

/** Depth of the problem up to which the hint names the helper for the complete value. */
const MAX_OUTER_PATH = 2;

/** Copies that make the schema unnecessary for most values. */
const QUICK: Readonly<Partial<Record<keyof typeof SCHEMAS, (value: unknown) => unknown>>> = {
  action: quickAction,
  observation: quickObservation,
  stepResult: quickStepResult,
};

/** Value without unknown members, or the problem as text. */
type Validated<T> = { readonly value: T } | { readonly problem: string };

/** Validates a value that an author's code returned. */
export function validateResult<T>(what: keyof typeof SCHEMAS, value: unknown): Validated<T> {
  const copy = QUICK[what]?.(value);
  return copy === undefined ? validateBySchema(what, value) : { value: copy as T };
}

/** Validates a value by its schema alone. */
export function validateBySchema<T>(what: keyof typeof SCHEMAS, value: unknown): Validated<T> {
  const result = SCHEMAS[what].safeParse(dropDefaults(value));
  if (result.success) return { value: result.data as T };
  const { issues } = result.error;
  // Values are omitted: they may be private.
  const problems = issues.map(({ path, message }) =>
    [...(path.length > 0 ? [path.join(".")] : []), withoutZodPrefix(message)].join(": "),
  );
  const maker = MAKERS[what];
  const advice =
    maker === undefined || issues.every(({ path }) => path.length > MAX_OUTER_PATH)
      ? ""
      : `; ${maker} of @mrlm/kit makes one`;
  return { problem: problems.slice(0, 3).join("; ") + advice };
}

/** Removes optional members that are `undefined`, and `isFresh: false`: it is the default, which is not sent over gRPC. */
function dropDefaults(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  const members = Object.entries(value).filter(
    ([key, member]) => member !== undefined && (member !== false || key !== "isFresh"),
  );
  return Object.fromEntries(
    members.map(([key, member]) => [key, key === "observation" ? dropDefaults(member) : member]),
  );
}
