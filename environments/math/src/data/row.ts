import type { JsonObject } from "@mrlm/spec";
import type { Solution } from "../solution.ts";

/** A problem of a file. */
export interface Row extends Pick<Solution, "answer" | "steps"> {
  readonly question: string;
  readonly scorer?: string | undefined;
  readonly answer_schema?: string | undefined;
  /** What else may be shown: the row's id, level, type. */
  readonly info: JsonObject;
}
