/** What looking for an answer gives. */

export type AnswerSource = "tag" | "boxed" | "gsm8k" | "phrase" | "math" | "text";

export type Extraction =
  | {
      readonly found: true;
      readonly answer: string;
      readonly isMath: boolean;
      readonly source: AnswerSource;
      /** What stands before a box: `x` of `x = \boxed{5}`. */
      readonly name?: string;
    }
  | { readonly found: false; readonly reason: string };
