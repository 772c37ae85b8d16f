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
  readonly #created = Math.floor(Date.now() / 1_000);

  constructor(policy: ServedPolicy, idPrefix: string) {
    this.#policy = policy;
    this.#id = `${idPrefix}-${randomUUID().replaceAll("-", "")}`;
  }

  /** Fields before the choices; the fingerprint is that of the weights that sampled last. */
  fields(object: string): Readonly<Record<string, string | number>> {
    return {
      id: this.#id,
      object,
      created: this.#created,
      model: this.#policy.id,
      system_fingerprint: fingerprintOf(this.#policy),
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
