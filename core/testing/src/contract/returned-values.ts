import { Defect } from "../check/defect.ts";
import type { FindingCode } from "../check/codes.ts";
import type { ReturnedListener } from "./watched-definition.ts";

/** Maximal size of a message, in bytes. */
const MAX_MESSAGE = 2 ** 20;
/** Nesting that the host accepts. */
const MAX_DEPTH = 1_000;

/** Members of the values that have a fixed form. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  observation: ["agent", "messages", "isFresh", "tools", "maxTokens", "info"],
  step: ["observation", "rewards", "terminated", "truncated", "info"],
  message: ["role", "name", "parts"],
  tool: ["name", "description", "parameters"],
  score: ["scored", "value", "components"],
  unscored: ["scored", "code", "message"],
  task: ["id", "public", "private"],
};

/** Inspects the values that an environment returned, before the host copies them. Keeps the first defect of each code. */
export class ReturnedValues {
  readonly #defects = new Map<FindingCode, Defect>();
  readonly #ended = new Set<string>();

  get defects(): readonly Defect[] {
    return [...this.#defects.values()];
  }

  readonly listener: ReturnedListener = (call, value) => {
    this.#inspect(call, value, "", []);
    if (!isObject(value)) return;
    if (call === "reset") this.#ended.clear();
    if (call === "tasks.get") this.#inspectMembers(call, "task", value, "");
    else if (call === "demonstrate") this.#inspectList(call, "message", value["messages"], "messages");
    else if (call === "reset") this.#inspectObservation(call, value, "");
    else this.#inspectObservation(call, value["observation"], "observation");
    if (call === "step") this.#inspectStep(value);
  };

  #add(code: FindingCode, message: string): void {
    if (!this.#defects.has(code)) this.#defects.set(code, new Defect(code, message));
  }

  #inspect(call: string, value: unknown, path: string, above: readonly object[]): void {
    const fault = faultOf(value, path, above);
    if (fault !== undefined)
      return this.#add("VALUE_NOT_JSON", `${call} returned ${path === "" ? "" : `${path}, which is `}${fault}.`);
    if (typeof value === "string" && !value.isWellFormed())
      return this.#add(
        "TEXT_CUT",
        `${call} returned ${place(path)}, whose text has half of a character: ${shown(value)}.`,
      );
    if (!isObject(value) || value instanceof Uint8Array) return;
    for (const [key, member] of Object.entries(value)) {
      const inner = join(path, key, Array.isArray(value));
      if (member === undefined && isOptionalMember(call, inner)) continue;
      if (!key.isWellFormed()) this.#add("TEXT_CUT", `${call} returned the key ${shown(key)} in ${place(path)}.`);
      this.#inspect(call, member, inner, [...above, value]);
    }
  }

  #inspectObservation(call: string, observation: unknown, path: string): void {
    if (!isObject(observation)) return;
    this.#inspectMembers(call, "observation", observation, path);
    this.#inspectList(call, "message", observation["messages"], join(path, "messages", false));
    this.#inspectList(call, "tool", observation["tools"], join(path, "tools", false));
  }

  #inspectList(call: string, form: "message" | "tool", values: unknown, path: string): void {
    if (!Array.isArray(values)) return;
    values.forEach((value: unknown, i) => {
      if (!isObject(value)) return;
      const at = join(path, String(i), true);
      this.#inspectMembers(call, form, value, at);
      const size = form === "message" ? sizeOf(value, []) : 0;
      if (size > MAX_MESSAGE)
        this.#add(
          "MESSAGE_TOO_LARGE",
          `${call} returned ${at} with ${(size / 2 ** 20).toFixed(1)} MiB; the limit is 1 MiB.`,
        );
    });
  }

  #inspectStep(step: Readonly<Record<string, unknown>>): void {
    this.#inspectMembers("step", "step", step, "");
    const { rewards, terminated, truncated } = step;
    if (isObject(rewards))
      for (const [agent, reward] of Object.entries(rewards))
        if (isObject(reward))
          this.#inspectMembers("step", reward["scored"] === false ? "unscored" : "score", reward, `rewards.${agent}`);
    if (!isObject(terminated) || !isObject(truncated)) return;
    for (const agent of new Set([...Object.keys(terminated), ...Object.keys(truncated)])) {
      const flags = [terminated[agent], truncated[agent]];
      if (flags.every((flag) => flag === true))
        this.#add("END_CONTRADICTED", `step returned agent "${agent}" as both terminated and truncated.`);
      if (flags.includes(true)) this.#ended.add(agent);
      else if (this.#ended.has(agent) && flags.every((flag) => flag === false))
        this.#add(
          "END_CONTRADICTED",
          `step returned agent "${agent}" as neither terminated nor truncated after its end.`,
        );
    }
  }

  #inspectMembers(call: string, form: string, value: object, path: string): void {
    const known = MEMBERS[form] ?? [];
    const unknown = Object.keys(value).find((key) => !known.includes(key));
    if (unknown !== undefined)
      this.#add(
        "MEMBER_UNKNOWN",
        `${call} returned ${join(path, unknown, false)}, which is no member of a ${form}: ${known.join(", ")}.`,
      );
  }
}

/** Describes why a value itself is not JSON; `undefined` if it is, apart from its members. */
function faultOf(value: unknown, path: string, above: readonly object[]): string | undefined {
  if (value === null) return undefined;
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : String(value);
    case "object":
      break;
    case "undefined":
      return "undefined";
    default:
      return `a ${typeof value}`;
  }
  if (above.includes(value)) return "an object that contains itself";
  if (above.length >= MAX_DEPTH) return "nested in more than 1,000 levels";
  if (Array.isArray(value)) {
    const hole = Array.from(value.keys()).find((index) => !Object.hasOwn(value, index));
    return hole === undefined ? undefined : `an array without an element ${hole}`;
  }
  if (value instanceof Uint8Array) return /(?:^|\.)source\.data$/.test(path) ? undefined : "bytes";
  // An object of another realm has another Object.prototype.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  const name = value.constructor?.name;
  return name ? `an instance of ${name}` : "an instance of a class";
}

/** Returns whether the host leaves out the member if it is `undefined`. */
function isOptionalMember(call: string, path: string): boolean {
  const members = { reset: MEMBERS["observation"], step: MEMBERS["step"] }[call] ?? [];
  return members.includes(path) || (call === "step" && /^observation\.\w+$/.test(path));
}

/** Returns about the number of bytes of a value as JSON, with the bytes of pictures. */
function sizeOf(value: unknown, above: readonly object[]): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  if (!isObject(value) || above.includes(value) || above.length >= MAX_DEPTH) return 0;
  return Object.entries(value).reduce((sum, [key, member]) => sum + key.length + sizeOf(member, [...above, value]), 0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function join(path: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${key}]`;
  return path === "" ? key : `${path}.${key}`;
}

function place(path: string): string {
  return path === "" ? "a value" : path;
}

/** Returns the text near its first surrogate without a partner, as JSON. */
function shown(text: string): string {
  const cut = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.exec(text)?.index ?? 0;
  return JSON.stringify(text.slice(Math.max(0, cut - 20), cut + 1));
}
