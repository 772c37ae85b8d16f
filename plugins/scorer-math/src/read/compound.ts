/** Quantities in several units: `5 ft 6 in`, `1 hour 30 minutes`, `3 hours and 30 minutes`. */
import * as q from "../exact/rational.ts";
import { number, type Node, type QuantityNode } from "../tree/node.ts";
import type { Parser } from "./state.ts";
import { readTail } from "./tail.ts";

/** Returns the sum, in the first unit; undefined when the second is no smaller part of the first. */
export function withSmallerPart(first: Node, second: Node): QuantityNode | undefined {
  if (first.kind !== "quantity" || second.kind !== "quantity" || first.unit.dimension !== second.unit.dimension)
    return undefined;
  if (first.value.kind !== "number" || second.value.kind !== "number" || first.unit.hasPi || second.unit.hasPi)
    return undefined;
  const part = q.multiply(second.value.value, q.divide(second.unit.factor, first.unit.factor));
  if (second.value.value.n < 0n || q.compare(part, q.ONE) >= 0 || !q.isInteger(first.value.value)) return undefined;
  const total = first.value.value.n < 0n ? q.subtract(first.value.value, part) : q.add(first.value.value, part);
  return { ...first, value: number(total) };
}

/** Reads the number and the smaller unit that follow a quantity; undefined, with nothing read, when they do not. */
export function readSmallerPart(p: Parser, first: Node): Node | undefined {
  const { lexer } = p;
  if (first.kind !== "quantity" || !lexer.is("number")) return undefined;
  const { start } = lexer.token;
  const value = p.primary();
  const second = lexer.is("word") || lexer.is("text") ? readTail(p, value) : undefined;
  const whole = second && withSmallerPart(first, second);
  if (!whole) lexer.moveTo(start);
  return whole;
}

/** Returns a list of parts of one quantity as their sum. */
export function joinedParts(items: readonly Node[]): Node | undefined {
  if (items.length < 2 || items.length > 3) return undefined;
  return items.slice(1).reduce<Node | undefined>((total, item) => total && withSmallerPart(total, item), items[0]);
}
