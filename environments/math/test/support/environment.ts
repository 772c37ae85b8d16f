import type { JsonObject, Scorer } from "@mrlm/kit";
import { type BareEnvironment, bareEnvironment } from "@mrlm/testing";
import { math } from "../../src/index.ts";
import type { MathOptions } from "../../src/options.ts";
import { mathScorer } from "./math-scorer.ts";

export type Prepared = BareEnvironment<MathOptions>;

/** Returns the environment under some options, with `scorer:math@2` unless another one is given. */
export async function prepare(given: JsonObject = {}, scorer?: Scorer): Promise<Prepared> {
  const used = scorer ?? (await mathScorer());
  return bareEnvironment(math, given, { scorers: { math: used, "math@2": used } });
}
