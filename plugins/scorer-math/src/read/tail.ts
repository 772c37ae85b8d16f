/** What follows a value in words: a unit of measure, a percent word, or a label such as "apples" that means nothing. */
import { number, product, type Node } from "../tree/node.ts";
import { parseUnit } from "../units/unit.ts";
import type { Parser } from "./state.ts";

const CONNECTIVE =
  /^(?:and|or|union|for|where|when|if|with|such|given|as|mod|modulo|is|are|equals|in|choose|over|to|then|but|not|otherwise|else)$/i;
/** A unit expression in plain words: `km/h`, `square meters`, `m/s^2`, `miles per hour`. */
const UNIT_WORDS =
  /(?:(?:square|cubic|sq|cu)\.?\s+)?[a-zA-Zµ°Ω$¢€£¥₹]+(?:\s*\^\s*\{?-?\d\}?|(?=[²³])[²³]|[23](?![\d.]))?(?:\s*(?:\/|\bper\b|\*|·)\s*[a-zA-Zµ]+(?:\s*\^\s*\{?-?\d\}?|[23](?![\d.]))?)*/y;
const SCALES: Readonly<Record<string, bigint>> = {
  dozen: 12n,
  hundred: 100n,
  thousand: 1000n,
  million: 10n ** 6n,
  billion: 10n ** 9n,
  trillion: 10n ** 12n,
};
const PERCENT = /^(?:percent|per\s*cent|percentage|pct)\b/i;

/** Words that join or qualify statements, so that they are no label. */
export function isConnective(word: string): boolean {
  return CONNECTIVE.test(word.trim().replace(/^[,;.\s]+|[,;.\s]+$/g, ""));
}

/** Reads the words after `value`; undefined when they are a connective. `°` has been read when `prefix` is given. */
export function readTail(p: Parser, value: Node, prefix = ""): Node | undefined {
  if (prefix === "°") return readDegrees(p, value);
  return p.lexer.is("text") ? readMarkedTail(p, value) : readPlainTail(p, value);
}

/** `5 million`: the value times the scale. */
function scaled(value: Node, word: string): Node | undefined {
  const scale = SCALES[word.trim().toLowerCase().replace(/s$/, "")];
  return scale === undefined ? undefined : product([value, number(scale)]);
}

function quantity(value: Node, name: string): Node | undefined {
  const unit = parseUnit(name);
  return unit && { kind: "quantity", value, unit };
}

function readDegrees(p: Parser, value: Node): Node {
  const { lexer } = p;
  const scale = /^\s*(?:\\(?:text|mathrm|rm)\s*\{\s*([CF])\s*\}|([CF])(?![a-zA-Z]))/.exec(
    lexer.source.slice(lexer.token.start, lexer.token.start + 20),
  );
  if (scale) lexer.moveTo(lexer.token.start + scale[0].length);
  return quantity(value, scale ? `°${scale[1] ?? scale[2]}` : "°") as Node;
}

/** `\text{ cm}^2`, `\mathrm{m}/\mathrm{s}`. */
function readMarkedTail(p: Parser, value: Node): Node | undefined {
  const { lexer } = p;
  const content = lexer.token.value.replace(/\\[,;: ]|~/g, " ").trim();
  if (isConnective(content.split(/\s/)[0] ?? "") || /^[,;]/.test(content)) return undefined;
  if (PERCENT.test(content) || content === "%" || content === "\\%") {
    lexer.next();
    return { kind: "percent", value };
  }
  const large = scaled(value, content);
  if (large) {
    lexer.next();
    return large;
  }
  const ending = lexer.source.slice(lexer.token.end);
  const more =
    /^(?:\s*\^\s*\{?\s*(-?\d)\s*\}?)?(?:\s*(\/|\\cdot)\s*\\(?:text|mathrm|textrm|rm)\s*\{([^{}]*)\}(?:\s*\^\s*\{?\s*(-?\d)\s*\}?)?)*/.exec(
      ending,
    )?.[0] ?? "";
  const name = (content + more)
    .replace(/\\(?:text|mathrm|textrm|rm)\s*/g, "")
    .replace(/\\cdot/g, "*")
    .replace(/[{}]/g, "");
  const found = quantity(value, name);
  if (found) {
    lexer.moveTo(lexer.token.end + more.length);
    return found;
  }
  if (/\d/.test(content)) return undefined;
  lexer.moveTo(lexer.token.end + (/^\s*\^\s*\{?\s*[23]\s*\}?/.exec(ending)?.[0].length ?? 0));
  if (content !== "") p.droppedWords++;
  return value;
}

function readPlainTail(p: Parser, value: Node): Node | undefined {
  const { lexer } = p;
  if (isConnective(lexer.token.value)) return undefined;
  const { start } = lexer.token;
  const percent = PERCENT.exec(lexer.source.slice(start, start + 12));
  if (percent) {
    lexer.moveTo(start + percent[0].length);
    return { kind: "percent", value };
  }
  const large = scaled(value, lexer.token.value);
  if (large) {
    lexer.next();
    return large;
  }
  UNIT_WORDS.lastIndex = start;
  const words = UNIT_WORDS.exec(lexer.source)?.[0];
  const found = words === undefined ? undefined : quantity(value, words);
  if (found && words !== undefined) {
    lexer.moveTo(start + words.length);
    return found;
  }
  lexer.next();
  p.droppedWords++;
  return value;
}
