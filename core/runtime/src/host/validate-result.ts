import {
  type AgentId,
  isObject,
  type JsonValue,
  type Message,
  type Observation,
  type Part,
  type Reward,
  type StepResult,
} from "@mrlm/spec";
import { MAX_REWARD } from "@mrlm/spec/host";
import { z } from "zod";
import { withoutZodPrefix } from "../plugins/schema-messages.ts";
import { agentFault, type Roles } from "./roles.ts";

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
  maxTokens: z.int32({ error: "must be a whole number above 0" }).min(1).exactOptional(),
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

// Copies of well-formed values of the usual kinds, without the schemas, which take longer than the rest of a step. Each
// function accepts a part of the values that the schema accepts, copies them to the same members in the same order, and
// returns `undefined` for all others.

/** Copies an observation without tools. */
export function quickObservation(value: unknown): Observation | undefined {
  if (!isObject(value)) return undefined;
  const { agent, isFresh, maxTokens, info } = value;
  if (typeof agent !== "string" || value["tools"] !== undefined) return undefined;
  if (isFresh !== undefined && typeof isFresh !== "boolean") return undefined;
  if (maxTokens !== undefined && !isTokenLimit(maxTokens)) return undefined;
  if (info !== undefined && !isJsonObject(info)) return undefined;
  const messages = quickArray(value["messages"], quickMessage);
  if (messages === undefined) return undefined;
  const copy: Mutable<Observation> = { agent, messages };
  if (isFresh === true) copy.isFresh = true;
  if (maxTokens !== undefined) copy.maxTokens = maxTokens;
  if (info !== undefined) copy.info = info;
  return copy;
}

/** Copies the result of a step. */
export function quickStepResult(value: unknown): StepResult | undefined {
  if (!isObject(value)) return undefined;
  const { info } = value;
  if (info !== undefined && !isJsonObject(info)) return undefined;
  const observation = quickObservation(value["observation"]);
  if (observation === undefined) return undefined;
  const rewards = quickRecord(value["rewards"], quickReward);
  const terminated = quickRecord(value["terminated"], quickFlag);
  const truncated = quickRecord(value["truncated"], quickFlag);
  if (rewards === undefined || terminated === undefined || truncated === undefined) return undefined;
  const copy: Mutable<StepResult> = { observation, rewards, terminated, truncated };
  if (info !== undefined) copy.info = info;
  return copy;
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] };

/** Whether it is a whole number above 0 of 32 bits. */
function isTokenLimit(value: unknown): value is number {
  return typeof value === "number" && (value | 0) === value && value > 0;
}

function quickMessage(value: unknown): Message | undefined {
  if (!isObject(value)) return undefined;
  const { role, name } = value;
  if (role !== "assistant" && role !== "user" && role !== "system" && role !== "tool") return undefined;
  const parts = quickArray(value["parts"], quickPart);
  if (parts === undefined) return undefined;
  if (!("name" in value)) return { role, parts };
  return typeof name === "string" ? { role, name, parts } : undefined;
}

function quickPart(value: unknown): Part | undefined {
  if (!isObject(value)) return undefined;
  const { type, text } = value;
  if ((type !== "text" && type !== "thinking") || typeof text !== "string") return undefined;
  return { type, text };
}

function quickReward(value: unknown): Reward | undefined {
  if (!isObject(value) || value["scored"] !== true) return undefined;
  const number = quickNumber(value["value"]);
  const components = quickRecord(value["components"], quickNumber);
  if (number === undefined || components === undefined) return undefined;
  if (Object.hasOwn(components, "mean") || Object.hasOwn(components, "std")) return undefined;
  return { scored: true, value: number, components };
}

const quickFlag = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
const quickNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Math.abs(value) <= MAX_REWARD ? value : undefined;

function quickArray<T>(value: unknown, copy: (element: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const copies: T[] = [];
  for (const element of value) {
    const copied = copy(element);
    if (copied === undefined) return undefined;
    copies.push(copied);
  }
  return copies;
}

function quickRecord<T>(value: unknown, copy: (member: unknown) => T | undefined): Record<AgentId, T> | undefined {
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const copies: Record<string, T> = {};
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key !== "string" || key === "__proto__") return undefined;
    const copied = copy(value[key]);
    if (copied === undefined) return undefined;
    copies[key] = copied;
  }
  return copies;
}

/** Whether it is an object of JSON values, with at most 1,000 levels. */
export function isJsonObject(value: unknown): value is Record<string, JsonValue> {
  return isPlainObject(value) && isJson(value);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof Uint8Array);
}

/** Nesting of JSON values, below what overflows the stack of a parser or a codec. */
const MAX_DEPTH = 1_000;

function isJson(value: unknown, depth = 0): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (depth === MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((element) => isJson(element, depth + 1));
  return isPlainObject(value) && Object.values(value).every((member) => isJson(member, depth + 1));
}

/** Checked value, or its fault. */
export type Checked<T> = { readonly value: T } | { readonly problem: string };

/** Agents of an episode before a step. */
export interface Participants {
  readonly roles: Roles;
  /** Agents that exist. */
  readonly agents: readonly AgentId[];
  readonly ended: ReadonlySet<AgentId>;
  /** Agents whose context is full, including the one that acts in this step. */
  readonly exhausted: ReadonlySet<AgentId>;
}

/** Checks the first observation of an episode: an agent of the environment must be on turn. */
export function checkObservation(returned: unknown, roles: Roles): Checked<Observation> {
  const checked = validateResult<Observation>("observation", returned);
  if ("problem" in checked) return checked;
  const fault = agentFault(checked.value.agent, roles);
  return fault === undefined ? checked : { problem: `agent: ${fault}` };
}

/**
 * Checks the result of a step and adds a flag for every agent that exists after it. An agent that has ended stays ended; an exhausted one is truncated, unless the
 * environment terminates it. After all agents have ended no agent is on turn, except where a role with `many` can bring another one.
 */
export function checkStep(returned: unknown, { roles, agents, ended, exhausted }: Participants): Checked<StepResult> {
  const checked = validateResult<StepResult>("stepResult", returned);
  if ("problem" in checked) return checked;
  const result = checked.value;
  const existing = [...agents];
  const join = (agent: AgentId): string | undefined => {
    if (existing.includes(agent)) return undefined;
    existing.push(agent);
    return agentFault(agent, roles);
  };
  for (const field of ["rewards", "terminated", "truncated"] as const) {
    for (const agent of Object.keys(result[field])) {
      const fault = join(agent);
      if (fault !== undefined) return { problem: `${field}: ${fault}` };
    }
  }
  const { agent: next } = result.observation;
  const fault = next === "" ? undefined : join(next);
  if (fault !== undefined) return { problem: `observation.agent: ${fault}` };
  const terminated: Record<AgentId, boolean> = {};
  const truncated: Record<AgentId, boolean> = {};
  for (const agent of existing) {
    terminated[agent] = result.terminated[agent] ?? false;
    const isExhausted = exhausted.has(agent) && !ended.has(agent) && !terminated[agent];
    truncated[agent] = isExhausted || (result.truncated[agent] ?? false);
  }
  const isOver = (agent: AgentId): boolean =>
    ended.has(agent) || terminated[agent] === true || truncated[agent] === true;
  const value = { ...result, terminated, truncated };
  const living = existing.filter((agent) => !isOver(agent));
  if (living.length === 0 && !Object.values(roles).some(({ many }) => many === true))
    return { value: { ...value, observation: { ...result.observation, agent: "" } } };
  if (next === "" && living.length > 0)
    return {
      problem: `observation.agent: "" ends the episode, but ${living.join(", ")} neither terminated nor truncated`,
    };
  if (exhausted.has(next))
    return { problem: `observation.agent: "${next}" is exhausted: its context is full, and it takes no further turn` };
  if (next !== "" && isOver(next)) return { problem: `observation.agent: "${next}" has already ended` };
  return { value };
}
