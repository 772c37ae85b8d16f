/**
 * The parser of answers: recursive descent over the lexer, from lists of statements down to atoms. It reads LaTeX and
 * plain text with one grammar; `isMath` is true if letters are variables, false if they form words.
 */
import type { Node } from "../tree/node.ts";
import type { Work } from "../work.ts";
import { parseExpression } from "./expression.ts";
import { Lexer } from "./lexer.ts";
import { parseList } from "./list.ts";
import { parsePrimary } from "./primary.ts";
import { ReadError, type Parser } from "./state.ts";

const DEEPEST = 60;

export class AnswerParser implements Parser {
  readonly lexer: Lexer;
  readonly work: Work;
  bars = 0;
  barSeparates = false;
  droppedWords = 0;
  #level: number;

  constructor(source: string, isMath: boolean, work: Work, level = 0) {
    this.lexer = new Lexer(source, isMath, work);
    this.work = work;
    this.#level = level;
  }

  get isMath(): boolean {
    return this.lexer.isMath;
  }

  fail(what: string): never {
    throw new ReadError(`${what} at offset ${this.lexer.token.start}`);
  }

  list(): Node {
    return this.nested(() => parseList(this));
  }

  expression(): Node {
    return this.nested(() => parseExpression(this));
  }

  primary(): Node {
    return this.nested(() => parsePrimary(this));
  }

  readWhole(source: string, isMath = this.isMath): Node {
    return this.nested(() => {
      const inner = new AnswerParser(source, isMath, this.work, this.#level);
      const node = inner.list();
      this.droppedWords += inner.droppedWords;
      if (!inner.lexer.is("end")) inner.fail("unexpected text");
      return node;
    });
  }

  argument(): Node {
    const { lexer } = this;
    if (lexer.is("operator", "{")) return this.isMath ? this.primary() : this.#group();
    const { token } = lexer;
    if (token.kind === "number") {
      const digit = lexer.source[token.start] as string;
      if (/\d/.test(digit)) {
        lexer.moveTo(token.start + 1);
        return this.readWhole(digit);
      }
    }
    return this.primary();
  }

  /** Reads a braced group. In plain text the braces of a command also group. */
  #group(): Node {
    const { start } = this.lexer.token;
    const end = this.lexer.closingBrace(start);
    if (end < 0) return this.fail("unclosed brace");
    this.lexer.moveTo(end);
    return this.readWhole(this.lexer.source.slice(start + 1, end - 1));
  }

  nested<T>(read: () => T): T {
    if (++this.#level > DEEPEST * 3) this.fail("nested too deeply");
    this.work.spend();
    try {
      return read();
    } finally {
      this.#level--;
    }
  }
}
