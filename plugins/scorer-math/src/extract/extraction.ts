/** Result of a search for an answer. */

export type AnswerSource = "tag" | "boxed" | "gsm8k" | "phrase" | "math" | "text";

export type Extraction =
  | {
      readonly found: true;
      readonly answer: string;
      readonly isMath: boolean;
      readonly source: AnswerSource;
      /** Text before a box: `x` in `x = \boxed{5}`. */
      readonly name?: string;
    }
  | { readonly found: false; readonly reason: string };
