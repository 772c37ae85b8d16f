import { randomUUID } from "node:crypto";
import { fingerprintOf, type ServedPolicy } from "../served-policy.ts";

/** Numbers of tokens of a response. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Fields that all parts of one response share. */
export class ResponseHead {
  readonly #policy: ServedPolicy;
  readonly #id: string;
  #version: number | undefined;
  readonly #created = Math.floor(Date.now() / 1_000);

  constructor(policy: ServedPolicy, idPrefix: string) {
    this.#policy = policy;
    this.#id = `${idPrefix}-${randomUUID().replaceAll("-", "")}`;
  }

  /** Called with the weight versions of an answer that has ended. */
  ended(versions: Int32Array): void {
    for (const version of versions) if (version > (this.#version ?? -1)) this.#version = version;
  }

  /** Fields before the choices; the fingerprint is that of the newest weights of the ended answers, else of those that sampled last. */
  fields(object: string): Readonly<Record<string, string | number>> {
    return {
      id: this.#id,
      object,
      created: this.#created,
      model: this.#policy.id,
      system_fingerprint: fingerprintOf(this.#version ?? this.#policy.version),
    };
  }
}

export function usageOf(promptTokens: number, completionTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** Returns the weight versions of tokens as spans `[start, end)`. */
export function versionSpans(versions: Int32Array): { version: number; start: number; end: number }[] {
  const spans: { version: number; start: number; end: number }[] = [];
  versions.forEach((version, i) => {
    const last = spans.at(-1);
    if (last?.version === version) last.end = i + 1;
    else spans.push({ version, start: i, end: i + 1 });
  });
  return spans;
}
