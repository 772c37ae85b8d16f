/** Atoms: literals, symbols, words, currencies, and the commands that stand for one value. */
import { E, number, symbol, text, type Node } from "../tree/node.ts";
import { parseUnit } from "../units/unit.ts";
import { parseAbsolute, parseBraces, parseBracket } from "./bracket.ts";
import { parseCommand } from "./command.ts";
import { readCombination } from "./combination.ts";
import { parseApplication, parseFunction } from "./function.ts";
import { primed, subscripted } from "./name.ts";
import { parseNumber, readBased } from "./numeral.ts";
import { readNumberWords } from "./number-words.ts";
import { readSetWords } from "./set-words.ts";
import { ReadError, type Parser } from "./state.ts";
import { FUNCTIONS } from "./token.ts";
import { parseWord } from "./word.ts";

export function parsePrimary(p: Parser): Node {
  const { lexer } = p;
  const { token } = lexer;
  const counted = readCombination(p) ?? readBased(p);
  if (counted) return counted;
  switch (token.kind) {
    case "number":
      return parseNumber(p);
    case "letter":
      if (token.value === "a" && !p.isMath && readNumberWords(lexer.source, token.start)) return parseWord(p);
      lexer.next();
      return parseLetter(p, token.value);
    case "word":
      return parseWord(p);
    case "text":
      return parseMarkedText(p);
    case "operator":
      if (token.value === "(" || token.value === "[") return parseBracket(p);
      if (token.value === "]") return parseBracket(p);
      if (token.value === "{") return parseBraces(p);
      if (token.value === "|") return parseAbsolute(p, "|");
      if (/^[$£€¥₹]$/.test(token.value)) return parseCurrency(p);
      return p.fail(`unexpected '${token.value}'`);
    case "command":
      return parseCommand(p);
    default:
      return p.fail(token.kind === "end" ? "unexpected end" : `unexpected '${token.value}'`);
  }
}

function parseLetter(p: Parser, letter: string): Node {
  const { lexer } = p;
  if (letter === "e" && !lexer.is("operator", "_") && !lexer.is("operator", "'")) return E;
  if (letter === "i" && !lexer.is("operator", "_")) return { kind: "constant", name: "i" };
  const name = primed(p, subscripted(p, letter));
  return parseApplication(p, name) ?? symbol(name);
}

/** Reads `\text{...}`: mathematics written upright, or words. */
function parseMarkedText(p: Parser): Node {
  const { value, start } = p.lexer.next();
  const content = value.trim();
  const isOperator = p.lexer.source.startsWith("\\operatorname", start) && /^[a-zA-Z]{2,}$/.test(content);
  if (content in FUNCTIONS || isOperator) return parseFunction(p, content, true);
  if (/^[a-zA-Z]$/.test(content)) return parseLetter(p, content);
  if (content === "") return p.primary();
  const count = readNumberWords(content, 0);
  if (count?.length === content.length) return number(count.value, undefined, count.notation);
  if (/^[A-J](?:\s*(?:,|and|or|,\s*and)\s*[A-J])+$/.test(content)) return p.readWhole(content, false);
  if (/\d|^[([]|\\/.test(content)) return readMarked(p, content);
  return readSetWords(content, (value) => readMarked(p, value)) ?? text(subscripted(p, content));
}

/** Parses upright text as mathematics. Words with digits stay words. */
function readMarked(p: Parser, content: string): Node {
  try {
    return p.readWhole(content, content.includes("\\"));
  } catch (error) {
    if (error instanceof ReadError) return text(content);
    throw error;
  }
}

function parseCurrency(p: Parser): Node {
  const { value: sign } = p.lexer.next();
  const value = p.primary();
  const unit = parseUnit(sign);
  return unit ? { kind: "quantity", value, unit } : value;
}
