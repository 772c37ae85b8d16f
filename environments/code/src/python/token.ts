/** Token of Python source: name, operator, or whole string. */
export interface Token {
  readonly kind: "name" | "operator" | "string";
  readonly text: string;
  /** Number of brackets around the token. */
  readonly depth: number;
}

/** Logical line: one or more physical lines, joined by brackets, backslashes or strings. */
export interface LogicalLine {
  /** Offset of the first character, including indentation. */
  readonly start: number;
  /** Offset after the line break. */
  readonly end: number;
  /** White space before the first token. */
  readonly indent: string;
  readonly tokens: readonly Token[];
}
