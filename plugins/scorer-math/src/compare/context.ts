/** Context of a comparison: options, work budget, and the function that compares parts. */
import type { VerifyOptions } from "../options.ts";
import type { Node } from "../tree/node.ts";
import type { Outcome } from "../verdict.ts";
import type { Work } from "../work.ts";

export type Context = {
  readonly options: VerifyOptions;
  readonly work: Work;
  /** Compares two parts with all the rules. */
  readonly compare: (expected: Node, answer: Node) => Outcome;
};
