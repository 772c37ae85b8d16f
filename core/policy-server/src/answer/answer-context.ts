import type { Exchange } from "@mrlm/kit/http";
import type { Admission } from "../sampling/admission.ts";
import type { ServedPolicy } from "../served-policy.ts";
import type { TokenNames } from "./token-names.ts";

/** Request with everything that answers it. */
export interface AnswerContext {
  readonly exchange: Exchange;
  readonly policy: ServedPolicy;
  readonly names: TokenNames;
  readonly admission: Admission;
  /** Aborted when the client is gone, or when the server ends. */
  readonly signal: AbortSignal;
  /** Receives the number of tokens of each finished answer. */
  count(tokens: { readonly prompt: number; readonly completion: number }): void;
}
