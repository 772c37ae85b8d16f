/** An on-demand lexer over cleaned text. The parser can move it back, so ambiguous readings need no token list. */
import type { RelationOperator } from "../tree/node.ts";
import type { Work } from "../work.ts";
import { readLiteral } from "./literal.ts";
import { RELATION_COMMANDS, TEXT_COMMANDS, type Token } from "./token.ts";

const RELATIONS: readonly (readonly [string, RelationOperator])[] = [
  ["<=>", "to"],
  ["=>", "to"],
  ["->", "to"],
  ["<=", "<="],
  ["=<", "<="],
  [">=", ">="],
  ["!=", "!="],
  ["<>", "!="],
  ["==", "="],
  [":=", "="],
  ["~=", "~"],
  ["=", "="],
  ["<", "<"],
  [">", ">"],
  ["~", "~"],
];
const LETTER = /[a-zA-Z]/;
/** A hyphen between two single letters is a minus sign: `x-y`. */
const WORD = /(?![a-zA-Z](?:-[a-zA-Z])+(?![a-zA-Z]))[a-zA-Z][a-zA-Z'’-]*[a-zA-Z]|[a-zA-Z]/y;
const COMMAND = /\\([a-zA-Z]+\*?|.)/suy;
const SPACE = /\s*/y;

export class Lexer {
  readonly source: string;
  readonly isMath: boolean;
  /** Bracket depth kept by the parser: a comma between digits groups thousands only outside brackets. */
  depth = 0;
  readonly #work: Work;
  readonly #groupsInBrackets: boolean;
  #token: Token;

  constructor(source: string, isMath: boolean, work: Work) {
    this.source = source;
    this.isMath = isMath;
    this.#work = work;
    this.#groupsInBrackets = /\d,\s+[-\d]/.test(source) && /\d,\d{3}(?!\d)/.test(source);
    this.#token = this.#read(0);
  }

  get token(): Token {
    return this.#token;
  }

  /** Moves past the current token and returns it. */
  next(): Token {
    const token = this.#token;
    this.#token = this.#read(token.end);
    return token;
  }

  moveTo(offset: number): void {
    this.#token = this.#read(offset);
  }

  is(kind: Token["kind"], value?: string): boolean {
    return this.#token.kind === kind && (value === undefined || this.#token.value === value);
  }

  /** Moves past the current token if it has the requested kind and value. */
  take(kind: Token["kind"], value?: string): boolean {
    if (!this.is(kind, value)) return false;
    this.next();
    return true;
  }

  /** Returns the offset after the brace that closes the one at `open`, or -1. */
  closingBrace(open: number): number {
    let level = 0;
    for (let i = open; i < this.source.length; i++) {
      const c = this.source[i];
      if (c === "\\") i++;
      else if (c === "{") level++;
      else if (c === "}" && --level === 0) {
        this.#work.spend((i - open) >> 3);
        return i + 1;
      }
    }
    this.#work.spend((this.source.length - open) >> 3);
    return -1;
  }

  #read(from: number): Token {
    this.#work.spend(4);
    SPACE.lastIndex = from;
    const start = from + (SPACE.exec(this.source)?.[0].length ?? 0);
    const hasSpace = start > from;
    const c = this.source[start];
    if (c === undefined) return { kind: "end", value: "", start, end: start, hasSpace };
    if (/[\d.]/.test(c)) {
      const literal = readLiteral(this.source, start, this.depth === 0 || this.#groupsInBrackets);
      if (literal) {
        return { kind: "number", value: "", start, end: start + literal.length, hasSpace, number: literal };
      }
    }
    if (c === "\\") return this.#command(start, hasSpace);
    if (LETTER.test(c)) {
      WORD.lastIndex = start;
      const word = this.isMath ? c : (WORD.exec(this.source)?.[0] ?? c);
      return { kind: word.length === 1 ? "letter" : "word", value: word, start, end: start + word.length, hasSpace };
    }
    for (const [spelling, operator] of RELATIONS) {
      if (this.source.startsWith(spelling, start))
        return { kind: "relation", value: operator, start, end: start + spelling.length, hasSpace };
    }
    if (this.source.startsWith("**", start)) return { kind: "operator", value: "^", start, end: start + 2, hasSpace };
    const character = String.fromCodePoint(this.source.codePointAt(start) as number);
    return { kind: "operator", value: character, start, end: start + character.length, hasSpace };
  }

  #command(start: number, hasSpace: boolean): Token {
    COMMAND.lastIndex = start;
    const name = COMMAND.exec(this.source)?.[1];
    if (name === undefined) return { kind: "operator", value: "\\", start, end: start + 1, hasSpace };
    const end = start + 1 + name.length;
    if ("%$#&_".includes(name)) return { kind: "operator", value: name, start, end, hasSpace };
    const relation = RELATION_COMMANDS[name];
    if (relation) return { kind: "relation", value: relation, start, end, hasSpace };
    if (TEXT_COMMANDS.has(name) && /^\s*\{/.test(this.source.slice(end, end + 4))) {
      const open = this.source.indexOf("{", end);
      const close = this.closingBrace(open);
      if (close > 0)
        return { kind: "text", value: this.source.slice(open + 1, close - 1), start, end: close, hasSpace };
    }
    return { kind: "command", value: name, start, end, hasSpace };
  }
}
