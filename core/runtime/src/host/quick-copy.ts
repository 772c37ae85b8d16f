import type { Action, AgentId, JsonValue, Message, Observation, Part, Reward, StepResult } from "@mrlm/spec";
import { MAX_REWARD } from "@mrlm/spec/host";

// Copies of well-formed values of the usual kinds, without the schemas, which take longer than the rest of a step. Each function accepts a part of the values that the
// schema accepts, copies them to the same members in the same order, and returns `undefined` for all others.

/** Copies an action. */
export function quickAction(value: unknown): Action | undefined {
  if (!isObject(value)) return undefined;
  const { agent, finishReason } = value;
  if (typeof agent !== "string") return undefined;
  if (finishReason !== "stop" && finishReason !== "length" && finishReason !== "exhausted") return undefined;
  const message = quickMessage(value["message"]);
  if (message?.role !== "assistant") return undefined;
  return { agent, message, finishReason };
}

/** Copies an observation without tools. */
export function quickObservation(value: unknown): Observation | undefined {
  if (!isObject(value)) return undefined;
  const { agent, isFresh, info } = value;
  if (typeof agent !== "string" || value["tools"] !== undefined) return undefined;
  if (isFresh !== undefined && typeof isFresh !== "boolean") return undefined;
  if (info !== undefined && !isJsonObject(info)) return undefined;
  const messages = quickArray(value["messages"], quickMessage);
  if (messages === undefined) return undefined;
  const copy: Mutable<Observation> = { agent, messages };
  if (isFresh === true) copy.isFresh = true;
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
