import type { AnswerForm } from "./form/form.ts";

/** Options of a verification. The names `precision`, `strict` and `allow_set_relation_comp` are those that labelled data sets carry. */
export type VerifyOptions = {
  /**
   * Decimal places to which two values are rounded before they are compared, where at least one of them is printed as
   * a decimal. Off by default: then only a decimal reference admits rounding, at its own printed precision.
   */
  readonly precision?: number | undefined;
  /** Largest relative error that an answer may have. 0, the default, allows none. */
  readonly tolerance?: number | undefined;
  /** `false` matches variables by position instead of by name, and lets an ordered tuple equal a set. Default true. */
  readonly strict?: boolean | undefined;
  /** `false` refuses an inequality as the answer where the reference is an interval. Default true. */
  readonly allow_set_relation_comp?: boolean | undefined;
  /**
   * Form in which the values of the answer have to be written. `auto`, the default, derives it from the reference; `equivalent` accepts every equivalent
   * answer; a named form holds for each value.
   */
  readonly form?: AnswerForm | undefined;
  /** Text of the question. An answer that stands in it as a computation that the reference is not has yet to be computed. */
  readonly question?: string | undefined;
  /** Place of the answer in its text; see `extract`. Default `any`. */
  readonly schema?: string | undefined;
  /** Mode of the search for the answer; see `extract`. Default `lenient`. */
  readonly mode?: "strict" | "lenient" | undefined;
};
