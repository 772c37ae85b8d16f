import type { Codec } from "@mrlm/kit/gateway";
import type { Exchange } from "@mrlm/kit/http";
import type { AnswerCounts } from "../request-log.ts";
import type { Admission } from "../sampling/admission.ts";
import type { ServedPolicy } from "../served-policy.ts";
import type { TokenNames } from "./token-names.ts";

/** Request with everything that answers it. */
export interface AnswerContext {
  readonly exchange: Exchange;
  /** Form of the API of the request. */
  readonly codec: Codec;
  readonly policy: ServedPolicy;
  readonly names: TokenNames;
  readonly admission: Admission;
  /** Aborted when the client is gone, or when the server ends. */
  readonly signal: AbortSignal;
  /** Receives the number of tokens of each finished answer, and 1 for one without the form that the request requires. */
  count(answer: AnswerCounts): void;
}
