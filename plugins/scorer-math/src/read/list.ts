/** Statements: relations between expressions, and lists of them joined by commas, "and" and "or". */
import type { ListNode, Node, RelationOperator } from "../tree/node.ts";
import { call, number, symbol, text } from "../tree/node.ts";
import { joinedParts } from "./compound.ts";
import type { Parser } from "./state.ts";
import { FUNCTIONS } from "./token.ts";

const IMPLIES = /^(?:Rightarrow|implies|iff|Leftrightarrow|Longrightarrow|Longleftrightarrow)$/;
type Join = ListNode["join"];
const CONDITION =
  /^(?:for|where|when|if|with|given|as|such|whenever|provided|assuming|unless|otherwise|(?:or,?\s+)?equivalently|that is|i\.e)\b/i;
const NEGATIONS: Readonly<Partial<Record<RelationOperator, RelationOperator>>> = {
  in: "notin",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
};
/** Words before a value that change its meaning. */
const QUALIFIERS =
  /\b(?:not|no|least|most|than|between|except|without|negative|minus|up to|other|half|twice|double|triple|square|cube|root|reciprocal|inverse|opposite|below|above|under|over)\b/i;
const STRONGER: Readonly<Record<Join, number>> = { comma: 0, and: 1, or: 2 };

export function parseList(p: Parser): Node {
  const { lexer } = p;
  const items: Node[] = [];
  let join: Join = "comma";
  while (lexer.is("command") && IMPLIES.test(lexer.token.value)) lexer.next();
  skipLabels(p);
  items.push(readCondition(p, joined(p)));
  for (;;) {
    const separator = readSeparator(p);
    if (!separator) break;
    if (separator === "implies") items.length = 0;
    else if (separator === "end") break;
    else if (STRONGER[separator] > STRONGER[join]) join = separator;
    if (lexer.is("end")) break;
    skipLabels(p);
    items.push(readCondition(p, joined(p)));
  }
  return items.length === 1 ? (items[0] as Node) : (joinedParts(items) ?? { kind: "list", items, join });
}

/** Returns one relation chain `a < b <= c`, or a single expression. */
export function joined(p: Parser): Node {
  const { lexer } = p;
  const first: Node =
    lexer.is("relation") && (lexer.token.value === "=" || lexer.token.value === "~") ? symbol("") : p.expression();
  const operators: RelationOperator[] = [];
  const operands: Node[] = [first];
  for (;;) {
    const negated = lexer.is("command", "not");
    if (negated) lexer.next();
    const divides = lexer.is("command", "mid") && !p.barSeparates;
    if (!lexer.is("relation") && !divides) break;
    const { value } = lexer.next();
    const operator = divides ? "divides" : (value as RelationOperator);
    operators.push(negated ? (NEGATIONS[operator] ?? "!=") : operator);
    operands.push(withModulus(p, p.expression()));
  }
  return operators.length === 0 ? withModulus(p, first) : { kind: "relation", operators, operands };
}

/** Reads `1 \pmod{3}`, `1 (mod 3)`: the residue class, with a residue from 0 to the modulus. */
function withModulus(p: Parser, value: Node): Node {
  const { lexer } = p;
  const written =
    /^(?:\\p(?:mod|od)\s*(?:\{\s*(\w+)\s*\}|(\w))|\(\s*(?:\\?(?:b?mod|text\{\s*mod\s*\}|mathrm\{\s*mod\s*\})|mod)\s*(\w+)\s*\)|\\?(?:b?mod)\s+(\w+))/.exec(
      lexer.source.slice(lexer.token.start, lexer.token.start + 60),
    );
  if (!written) return value;
  lexer.moveTo(lexer.token.start + written[0].length);
  const modulus = p.readWhole(written.slice(1).find((group) => group !== undefined) as string, true);
  if (value.kind !== "number" || modulus.kind !== "number" || modulus.value.n <= 0n || value.value.d !== 1n)
    return call("modulo()", value, modulus);
  const m = modulus.value.n;
  return call("modulo()", number(((value.value.n % m) + m) % m), modulus);
}

/** Skips words before a value that only introduce it. */
function skipLabels(p: Parser): void {
  const { lexer } = p;
  while (lexer.is("text")) {
    const { value, end } = lexer.token;
    const rest = lexer.source.slice(end).trimStart();
    if (value.trim() in FUNCTIONS || QUALIFIERS.test(value)) return;
    const isLabel =
      /[a-z]{2}|:\s*$|^\s*$/i.test(value) &&
      !/\d|\\/.test(value) &&
      rest !== "" &&
      !/^(?:[=<>_^,;)}\]]|\\(?:[lg]eq?|approx|in|neq?)(?![a-zA-Z]))/.test(rest);
    if (!isLabel) return;
    lexer.next();
    if (/[a-z]/i.test(value)) p.droppedWords++;
    lexer.take("operator", ":");
  }
}

function readSeparator(p: Parser): Join | "implies" | "end" | undefined {
  const { lexer } = p;
  let found: Join | "implies" | "end" | undefined;
  for (;;) {
    const { token } = lexer;
    let next: Join | "implies" | undefined;
    if (token.kind === "operator" && (token.value === "," || token.value === ";")) next = "comma";
    else if (token.kind === "operator" && token.value === "&") next = "and";
    else if (token.kind === "command" && (token.value === "\\" || token.value === "newline")) next = "comma";
    else if (token.kind === "command" && (token.value === "land" || token.value === "wedge")) next = "and";
    else if (token.kind === "command" && (token.value === "lor" || token.value === "vee")) next = "or";
    else if (token.kind === "command" && IMPLIES.test(token.value)) next = "implies";
    else if (token.kind === "text" || token.kind === "word") next = connective(token.value);
    if (!next) return found;
    lexer.next();
    if (found === undefined || next === "implies" || found === "comma") found = next;
    if (lexer.is("end") || lexer.is("operator", ")") || lexer.is("operator", "}") || lexer.is("operator", "]"))
      return "end";
  }
}

function connective(words: string): Join | undefined {
  const bare = words
    .trim()
    .replace(/^[,;.\s]+|[,;.\s]+$/g, "")
    .toLowerCase();
  if (bare === "and" || bare === "but") return "and";
  if (bare === "or") return "or";
  return bare === "" && /[,;]/.test(words) ? "comma" : undefined;
}

/** Boundary between two qualified statements. */
const NEXT_STATEMENT = /(?:\\text\s*\{\s*,?\s*(?:and|or)\s*\}|;)(?=[^;]*=)/;

/** Reads `..., where n is an integer`: kept with the statement as a condition. */
function readCondition(p: Parser, main: Node): Node {
  const { lexer } = p;
  const { token } = lexer;
  if (!(token.kind === "text" || token.kind === "word" || (token.kind === "command" && token.value === "forall")))
    return main;
  if (token.kind !== "command" && !CONDITION.test(token.value.trim())) return main;
  const rest = lexer.source.slice(token.start);
  const length = NEXT_STATEMENT.exec(rest)?.index ?? rest.length;
  lexer.moveTo(token.start + length);
  const words = rest
    .slice(0, length)
    .replace(/^\\forall/, "")
    .trim();
  return call("where", main, text(words.toLowerCase()));
}
