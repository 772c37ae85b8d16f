/** A piece of Python source that matters for its structure: names, operators, and strings as a whole. */
export interface Token {
  readonly kind: "name" | "operator" | "string";
  readonly text: string;
  /** Of brackets around it. */
  readonly depth: number;
}

/** A statement's line: one or more physical lines that brackets, backslashes or strings hold together. */
export interface LogicalLine {
  /** Offset of its first character, indentation included. */
  readonly start: number;
  /** Offset behind its line break. */
  readonly end: number;
  /** White space before its first token. */
  readonly indent: string;
  readonly tokens: readonly Token[];
}
