import type { ErrorRecord } from "@mrlm/store";
import type { Reads } from "./reads.ts";

/** Request to the process that reads. */
export interface ReadRequest {
  readonly id: number;
  readonly name: keyof Reads;
  readonly args: readonly unknown[];
}

/** Its answer: a value or an error. */
export interface ReadAnswer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: ErrorRecord;
}
