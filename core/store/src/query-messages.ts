import type { ErrorRecord } from "@mrlm/process";
import type { StorePlace } from "./store-place.ts";

/** A value of a result. Bytes are written in hexadecimal, integers above 2^53 and numbers that are not finite as text. */
export type QueryValue = string | number | null;

/** Bounds of a query. */
export interface QueryLimits {
  readonly rows: number;
  readonly seconds: number;
  readonly megabytes: number;
}

/** Request to the process of a query. */
export interface QueryRequest extends QueryLimits, StorePlace {
  readonly sql: string;
}

/** A line from the process of a query: the columns, then each row, then the end or an error. */
export type QueryLine =
  | { readonly columns: readonly string[] }
  | { readonly row: readonly QueryValue[] }
  | { readonly isCut: boolean; readonly seconds: number }
  | { readonly error: ErrorRecord };
