/** Matrices: sums, multiples, products and transposes are carried out, then entries are compared. */
import { negated, number, product, sum, type MatrixNode, type Node } from "../tree/node.ts";
import { anywhere } from "../tree/walk.ts";
import { different, type Outcome } from "../verdict.ts";
import { compareInOrder } from "./collection.ts";
import type { Context } from "./context.ts";

export const hasMatrix: (node: Node) => boolean = anywhere((part) => part.kind === "matrix");

/** Returns the matrix that an expression of matrices is; undefined when it is none or stays unevaluated. */
export function asMatrix(node: Node): MatrixNode | undefined {
  if (node.kind === "matrix") return node;
  if (node.kind === "add") {
    const parts = node.terms.map(asMatrix);
    if (parts.some((part) => !part || !sameShape(part, parts[0] as MatrixNode))) return undefined;
    return (parts as MatrixNode[]).reduce((a, b) => ({
      kind: "matrix",
      rows: a.rows.map((row, i) => row.map((cell, j) => sum([cell, b.rows[i]?.[j] as Node]))),
    }));
  }
  if (node.kind === "multiply") return multiplied(node.factors);
  if (node.kind === "power") {
    const base = asMatrix(node.base);
    const isTranspose = node.exponent.kind === "symbol" && /^(?:T|top|t)$/.test(node.exponent.name);
    if (base && isTranspose)
      return { kind: "matrix", rows: (base.rows[0] ?? []).map((_, j) => base.rows.map((row) => row[j] as Node)) };
    if (base && node.exponent.kind === "number" && node.exponent.value.n === 2n) return multiplied([base, base]);
  }
  return undefined;
}

function multiplied(factors: readonly Node[]): MatrixNode | undefined {
  let scalars: Node[] = [];
  let out: MatrixNode | undefined;
  for (const factor of factors) {
    const matrix = asMatrix(factor);
    if (!matrix) scalars.push(factor);
    else if (!out) out = matrix;
    else if (out.rows[0]?.length === matrix.rows.length) {
      const { rows } = out;
      out = {
        kind: "matrix",
        rows: rows.map((row) =>
          (matrix.rows[0] ?? []).map((_, j) => sum(row.map((cell, k) => product([cell, matrix.rows[k]?.[j] as Node])))),
        ),
      };
    } else return undefined;
  }
  if (!out || scalars.length === 0) return out;
  const isNegation = scalars.length === 1 && scalars[0]?.kind === "number" && scalars[0].value.n === -1n;
  if (scalars.length > 1) scalars = [product(scalars)];
  return {
    kind: "matrix",
    rows: out.rows.map((row) =>
      row.map((cell) => (isNegation ? negated(cell) : product([scalars[0] ?? number(1), cell]))),
    ),
  };
}

function sameShape(a: MatrixNode | undefined, b: MatrixNode): boolean {
  return a !== undefined && a.rows.length === b.rows.length && a.rows[0]?.length === b.rows[0]?.length;
}

export function compareMatrices(c: Context, expected: MatrixNode, answer: MatrixNode): Outcome {
  if (
    expected.rows.length !== answer.rows.length ||
    expected.rows.some((row, i) => row.length !== answer.rows[i]?.length)
  )
    return different("structure", "matrices of different shapes");
  return compareInOrder(c, expected.rows.flat(), answer.rows.flat(), "entries");
}

/** Returns the entries of a row or column vector. */
export function vectorItems(node: MatrixNode): readonly Node[] | undefined {
  if (node.rows.every((row) => row.length === 1)) return node.rows.map((row) => row[0] as Node);
  return node.rows.length === 1 ? node.rows[0] : undefined;
}
