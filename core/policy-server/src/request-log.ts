import type { ServerResponse } from "node:http";
import type { ApiError } from "@mrlm/kit/gateway";
import { defined, type Logger } from "@mrlm/spec";
import type { Attempt } from "./attempt.ts";
import type { Admission } from "./sampling/admission.ts";

/** Counters of a server since its start, and its present load. */
export interface ServerMetrics {
  readonly requests: number;
  /** Requests that ended with a status of 400 or above. */
  readonly failures: number;
  /** Requests whose client disconnected before the end of the response. */
  readonly disconnects: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Answers without the form that `response_format` requires. */
  readonly schema_failed: number;
  readonly running_sequences: number;
  readonly queued_sequences: number;
}

/** Counts of an answer. */
export interface AnswerCounts {
  readonly prompt: number;
  readonly completion: number;
  readonly schemaFailed?: number;
}

export interface RequestEntry {
  count(answer: AnswerCounts): void;
  fail(error: ApiError): void;
  end(response: ServerResponse): void;
}

/** Logs requests and counts them. */
export class RequestLog {
  readonly #logger: Logger;
  readonly #admission: Admission;
  readonly #counts = {
    ...{ requests: 0, failures: 0, disconnects: 0 },
    ...{ prompt_tokens: 0, completion_tokens: 0, schema_failed: 0 },
  };

  constructor(logger: Logger, admission: Admission) {
    this.#logger = logger;
    this.#admission = admission;
  }

  begin(method: string, path: string, { retry, idempotencyKey }: Attempt): RequestEntry {
    const started = performance.now();
    const counts = this.#counts;
    const own = { prompt: 0, completion: 0, schemaFailed: 0 };
    let failure: ApiError | undefined;
    counts.requests++;
    return {
      count({ prompt, completion, schemaFailed = 0 }) {
        own.schemaFailed += schemaFailed;
        counts.schema_failed += schemaFailed;
        own.prompt += prompt;
        own.completion += completion;
        counts.prompt_tokens += prompt;
        counts.completion_tokens += completion;
      },
      fail(error) {
        failure = error;
        counts.failures++;
      },
      end: (response) => {
        if (!response.writableFinished) counts.disconnects++;
        this.#logger.debug("request", {
          method,
          path,
          status: response.writableFinished ? response.statusCode : "disconnected",
          milliseconds: Math.round(performance.now() - started),
          prompt_tokens: own.prompt,
          completion_tokens: own.completion,
          ...(own.schemaFailed > 0 && { schema_failed: own.schemaFailed }),
          ...defined({ retry, idempotency_key: idempotencyKey }),
          ...(failure !== undefined && { code: failure.code, error: failure.message }),
        });
      },
    };
  }

  metrics(): ServerMetrics {
    const { running, queued } = this.#admission;
    return { ...this.#counts, running_sequences: running, queued_sequences: queued };
  }
}
