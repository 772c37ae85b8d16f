/** A readable, canonical spelling of an expression tree: what a verdict shows, and the key of structural equality. */
import { toText } from "../exact/rational.ts";
import { showUnit } from "../units/unit.ts";
import type { Node } from "./node.ts";

const OPEN = { round: "(", square: "[", angle: "<" } as const;
const CLOSE = { round: ")", square: "]", angle: ">" } as const;
const SET_NAMES = { reals: "R", integers: "Z", naturals: "N", rationals: "Q", complexes: "C", empty: "{}" } as const;
const SET_OPERATORS = { union: " ∪ ", intersection: " ∩ ", difference: " \\ " } as const;

/** Trees are immutable and compared many times, part by part. */
const spellings = new WeakMap<Node, string>();

export function show(node: Node): string {
  if (node.kind === "symbol" || node.kind === "constant") return node.name;
  const known = spellings.get(node);
  if (known !== undefined) return known;
  const spelling = spell(node);
  spellings.set(node, spelling);
  return spelling;
}

function spell(node: Exclude<Node, { kind: "symbol" | "constant" }>): string {
  switch (node.kind) {
    case "number":
      return toText(node.value);
    case "add":
      return `(${node.terms.map(show).join(" + ")})`;
    case "multiply":
      return `(${node.factors.map(show).join(" * ")})`;
    case "power":
      return `${showOperand(node.base)}^${showOperand(node.exponent)}`;
    case "call":
      return `${node.name.replace("()", "")}(${node.args.map(show).join(", ")})`;
    case "plusminus":
      return node.first === 1 ? `±${show(node.value)}` : `∓${show(node.value)}`;
    case "percent":
      return `${show(node.value)}%`;
    case "quantity":
      return `${show(node.value)} ${showUnit(node.unit)}`;
    case "ratio":
      return node.parts.map(show).join(":");
    case "relation":
      return node.operands
        .map((operand, i) => (i === 0 ? show(operand) : ` ${node.operators[i - 1]} ${show(operand)}`))
        .join("");
    case "list":
      return node.items.map(show).join(node.join === "comma" ? ", " : ` ${node.join} `);
    case "tuple":
      return `${OPEN[node.open]}${node.items.map(show).join(", ")}${CLOSE[node.close]}`;
    case "set":
      return `{${node.items.map(show).join(", ")}}`;
    case "builder":
      return `{${show(node.element)} | ${show(node.condition)}}`;
    case "setOperation":
      return node.sets.map(show).join(SET_OPERATORS[node.name]);
    case "namedSet":
      return SET_NAMES[node.name];
    case "matrix":
      return `[${node.rows.map((row) => row.map(show).join(", ")).join("; ")}]`;
    case "text":
      return JSON.stringify(node.value);
  }
}

/** Returns the operand of a power, in brackets unless it is an atom, so that the spelling has one reading. */
function showOperand(node: Node): string {
  const isAtom =
    node.kind === "symbol" ||
    node.kind === "constant" ||
    (node.kind === "number" && node.value.d === 1n && node.value.n >= 0n);
  const isBracketed =
    node.kind === "add" ||
    node.kind === "multiply" ||
    node.kind === "call" ||
    node.kind === "tuple" ||
    node.kind === "set";
  return isAtom || isBracketed ? show(node) : `(${show(node)})`;
}
