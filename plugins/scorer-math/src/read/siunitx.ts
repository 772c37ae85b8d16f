/** The commands of the LaTeX package siunitx: `\SI{5}{\meter\per\second}`, `\num{1000}`, `\ang{30}`. */
import { number, type Node } from "../tree/node.ts";
import { parseUnit } from "../units/unit.ts";
import type { Parser } from "./state.ts";

/** Reads the value that `\name` stands for; undefined when it is no such command. Its name has been read. */
export function parseSiunitx(p: Parser, name: string): Node | undefined {
  if (!/^(?:SI|qty|num|ang|unit|si)$/.test(name) || !p.lexer.is("operator", "{")) return undefined;
  if (name === "unit" || name === "si") return withUnit(p, number(1));
  const value = p.argument();
  if (name === "num") return value;
  if (name === "ang") return { kind: "quantity", value, unit: unitOf(p, "°") };
  return withUnit(p, value);
}

function withUnit(p: Parser, value: Node): Node {
  const { lexer } = p;
  const { start } = lexer.token;
  const end = lexer.closingBrace(start);
  if (lexer.source[start] !== "{" || end < 0) return p.fail("a quantity without its unit");
  const written = lexer.source
    .slice(start + 1, end - 1)
    .replace(/\\per(?![a-z])/g, "/")
    .replace(/\\square(?![a-z])/g, "square ")
    .replace(/\\cubic(?![a-z])/g, "cubic ")
    .replace(/\\squared(?![a-z])/g, "^2")
    .replace(/\\cubed(?![a-z])/g, "^3")
    .replace(/\\(kilo|centi|milli|micro|nano|mega|giga|deci|hecto)\s*(?:\\)?/g, " $1")
    .replace(/\\degree(?![a-z])/g, "°")
    .replace(/\\percent(?![a-z])|\\?%/g, "%")
    .replace(/\\/g, " ")
    .trim();
  lexer.moveTo(end);
  if (written === "%") return { kind: "percent", value };
  return { kind: "quantity", value, unit: unitOf(p, written) };
}

function unitOf(p: Parser, name: string): NonNullable<ReturnType<typeof parseUnit>> {
  return parseUnit(name) ?? p.fail(`unknown unit '${name}'`);
}
