import type { JsonObject } from "@mrlm/kit";
import type { Solution } from "../solution.ts";

/** Problem of a file. */
export interface Row extends Pick<Solution, "answer" | "steps"> {
  readonly question: string;
  readonly scorer?: string | undefined;
  readonly answer_schema?: string | undefined;
  /** Further public fields: id, level and type of the row. */
  readonly info: JsonObject;
}
