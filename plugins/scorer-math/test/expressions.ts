/** Random expressions, their spellings, their rewrites, and an evaluation that is independent of the verifier. */
import fc from "fast-check";

export type Expression =
  | { kind: "number"; value: number }
  | { kind: "variable"; name: string }
  | { kind: "sum" | "product"; left: Expression; right: Expression }
  | { kind: "power"; base: Expression; exponent: number };

export const expressions: fc.Arbitrary<Expression> = fc.letrec<{ node: Expression }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.record({ kind: fc.constant("number" as const), value: fc.integer({ min: -12, max: 12 }) }),
    fc.record({ kind: fc.constant("variable" as const), name: fc.constantFrom("x", "y", "n", "a") }),
    fc.record({ kind: fc.constant("sum" as const), left: tie("node"), right: tie("node") }),
    fc.record({ kind: fc.constant("product" as const), left: tie("node"), right: tie("node") }),
    fc.record({ kind: fc.constant("power" as const), base: tie("node"), exponent: fc.integer({ min: 2, max: 3 }) }),
  ),
})).node;

/** Writes LaTeX or plain text, chosen by the bits of `style`. */
export function write(e: Expression, style: number): string {
  const rest = Math.floor(style / 7);
  switch (e.kind) {
    case "number":
      return e.value < 0 ? `(${e.value})` : `${e.value}`;
    case "variable":
      return e.name;
    case "sum":
      return `(${write(e.left, rest)}${style % 2 === 0 ? "+" : " + "}${write(e.right, rest + 1)})`;
    case "product":
      return `(${write(e.left, rest)}${["*", " \\cdot ", "\\times "][style % 3]}${write(e.right, rest + 1)})`;
    case "power":
      return `(${write(e.base, rest)})^{${e.exponent}}`;
  }
}

/** Returns the value modulo a prime, at a point that `seed` chooses. */
export function valueAt(e: Expression, seed: number): bigint {
  const prime = 1_000_000_007n;
  const modulo = (value: bigint): bigint => ((value % prime) + prime) % prime;
  switch (e.kind) {
    case "number":
      return modulo(BigInt(e.value));
    case "variable":
      return modulo(
        BigInt(e.name.charCodeAt(0)) * 7_919n + BigInt(seed) * 104_729n * BigInt(e.name.charCodeAt(0)) ** 2n,
      );
    case "sum":
      return modulo(valueAt(e.left, seed) + valueAt(e.right, seed));
    case "product":
      return modulo(valueAt(e.left, seed) * valueAt(e.right, seed));
    case "power":
      return modulo(valueAt(e.base, seed) ** BigInt(e.exponent));
  }
}

/** Returns an equal expression: commuted, expanded, with powers written out, with terms added and taken away again. */
export function rewrite(e: Expression, choices: number): Expression {
  const rest = Math.floor(choices / 5);
  switch (e.kind) {
    case "number":
      return choices % 5 === 0 ? { kind: "sum", left: { ...e, value: e.value - 3 }, right: { ...e, value: 3 } } : e;
    case "variable":
      return e;
    case "sum":
    case "product": {
      const left = rewrite(e.left, rest);
      const right = rewrite(e.right, rest + 1);
      const isExpandable = e.kind === "product" && right.kind === "sum" && choices % 5 < 3;
      if (isExpandable) {
        return {
          kind: "sum",
          left: { kind: "product", left, right: right.left },
          right: { kind: "product", left: right.right, right: left },
        };
      }
      return choices % 2 === 0 ? { kind: e.kind, left: right, right: left } : { kind: e.kind, left, right };
    }
    case "power": {
      const base = rewrite(e.base, rest);
      if (choices % 5 > 2) return { ...e, base };
      const square: Expression = { kind: "product", left: base, right: rewrite(e.base, rest + 2) };
      return e.exponent === 2 ? square : { kind: "product", left: base, right: square };
    }
  }
}

/** Returns the expression with one number, variable or sign changed, at a place that `choices` picks. */
export function perturb(e: Expression, choices: number): Expression {
  const rest = Math.floor(choices / 3);
  switch (e.kind) {
    case "number":
      return { ...e, value: e.value + 1 + (choices % 3) };
    case "variable":
      return choices % 2 === 0
        ? { ...e, name: e.name === "x" ? "y" : "x" }
        : { kind: "product", left: { kind: "number", value: -1 }, right: e };
    case "sum":
    case "product":
      return choices % 2 === 0 ? { ...e, left: perturb(e.left, rest) } : { ...e, right: perturb(e.right, rest) };
    case "power":
      return choices % 3 === 0 ? { ...e, exponent: e.exponent + 1 } : { ...e, base: perturb(e.base, rest) };
  }
}
