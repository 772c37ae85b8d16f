/** State that the parts of the parser share. */
import type { Node } from "../tree/node.ts";
import type { Work } from "../work.ts";
import type { Lexer } from "./lexer.ts";

/** Error for text that the parser does not accept. */
export class ReadError extends Error {
  override readonly name = "ReadError";
}

export interface Parser {
  readonly lexer: Lexer;
  readonly work: Work;
  /** Whether letters are variables; otherwise they form words. */
  readonly isMath: boolean;
  /** Open `|` bars around the current position: the next bar closes. */
  bars: number;
  /** Inside `{x | ...}`, where a bar separates. */
  barSeparates: boolean;
  /** Words that were passed over as labels. */
  droppedWords: number;
  /** Reads one level deeper; throws a `ReadError` past the deepest. */
  nested<T>(read: () => T): T;
  /** Throws a `ReadError` that names the position. */
  fail(what: string): never;
  /** Reads a comma-separated list of statements: relations, expressions, alternatives. */
  list(): Node;
  /** Reads one expression: sums, products, powers and set operations, but no relation. */
  expression(): Node;
  /** Reads one atom: a literal, symbol, bracketed group or command. */
  primary(): Node;
  /** Reads a whole piece of text of its own, such as a matrix cell. */
  readWhole(source: string, isMath?: boolean): Node;
  /** Reads what a LaTeX command takes as its argument: a braced group, a command, or one character. */
  argument(): Node;
}
