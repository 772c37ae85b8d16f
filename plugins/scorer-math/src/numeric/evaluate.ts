/** Evaluation of an expression at a point, to a given precision. */
import type { Node } from "../tree/node.ts";
import type { Work } from "../work.ts";
import * as cx from "./complex.ts";
import type { Complex } from "./complex.ts";
import { UndefinedAtPoint, Unevaluable } from "./errors.ts";
import { evaluateFunction } from "./functions.ts";
import type { Evaluation } from "./evaluation.ts";
import * as fn from "./elementary.ts";
import * as real from "./real.ts";

export type Point = ReadonlyMap<string, Complex>;

export class Evaluator implements Evaluation {
  readonly work: Work;
  readonly bits: number;
  /** Intermediate values must be real too. */
  readonly isRealOnly: boolean;
  readonly #point: Point;

  constructor(work: Work, bits: number, point: Point, isRealOnly: boolean) {
    this.work = work;
    this.bits = bits;
    this.isRealOnly = isRealOnly;
    this.#point = point;
  }

  evaluate(node: Node): Complex {
    this.work.spend(4);
    const { bits } = this;
    switch (node.kind) {
      case "number":
        return cx.fromReal(real.fromRational(node.value, bits));
      case "symbol": {
        const value = this.#point.get(node.name);
        if (!value) throw new Unevaluable(`no value for ${node.name}`);
        return value;
      }
      case "constant":
        if (node.name === "pi") return cx.fromReal(fn.pi(bits));
        if (node.name === "e") return cx.fromReal(fn.exp(real.ONE, bits));
        if (node.name === "infinity") throw new Unevaluable("infinity");
        if (this.isRealOnly) throw new UndefinedAtPoint("not real");
        return cx.I;
      case "add":
        return node.terms.map((term) => this.evaluate(term)).reduce((a, b) => cx.add(a, b, bits));
      case "multiply":
        return node.factors.map((factor) => this.evaluate(factor)).reduce((a, b) => cx.multiply(a, b, bits));
      case "power":
        return this.power(this.evaluate(node.base), node.exponent);
      case "percent":
        return cx.multiply(this.evaluate(node.value), cx.fromReal(real.fromRational({ n: 1n, d: 100n }, bits)), bits);
      case "quantity": {
        if (node.unit.dimension !== "") throw new Unevaluable("a quantity with a unit");
        const factor = cx.fromReal(real.fromRational(node.unit.factor, bits));
        const value = cx.multiply(this.evaluate(node.value), factor, bits);
        return node.unit.hasPi ? cx.multiply(value, cx.fromReal(fn.pi(bits)), bits) : value;
      }
      case "ratio":
        if (node.parts.length !== 2) throw new Unevaluable("a ratio of more than two");
        return cx.multiply(
          this.evaluate(node.parts[0] as Node),
          this.invert(this.evaluate(node.parts[1] as Node)),
          bits,
        );
      case "call":
        if (node.name === "where") return this.evaluate(node.args[0] as Node);
        return this.real(evaluateFunction(this, node.name, node.args));
      default:
        throw new Unevaluable(`a ${node.kind} has no numeric value`);
    }
  }

  withValue(name: string, value: Complex): Evaluation {
    return new Evaluator(this.work, this.bits, new Map([...this.#point, [name, value]]), this.isRealOnly);
  }

  /** Checks that a value is real where only reals are asked for. */
  real(value: Complex): Complex {
    if (this.isRealOnly && !cx.isReal(value)) throw new UndefinedAtPoint("not real");
    return value;
  }

  invert(value: Complex): Complex {
    if (cx.isZero(value) || real.magnitude(cx.modulus(value, this.bits)) < -this.bits / 2)
      throw new UndefinedAtPoint("division by zero");
    return cx.inverse(value, this.bits);
  }

  /** Computes base^exponent: repeated multiplication for integers, real odd roots of negative numbers, else principal values. */
  power(base: Complex, exponent: Node): Complex {
    const exact = exponent.kind === "number" ? exponent.value : undefined;
    if (exact && exact.d === 1n && exact.n <= 64n && exact.n >= -64n) {
      const size = Number(exact.n < 0n ? -exact.n : exact.n);
      let value = cx.ONE;
      for (let k = 0; k < size; k++) value = cx.multiply(value, base, this.bits);
      return exact.n < 0n ? this.invert(value) : value;
    }
    if (exact && exact.n === 1n && exact.d === 2n) {
      this.work.spend(20);
      return this.real(cx.squareRoot(base, this.bits));
    }
    const power = this.evaluate(exponent);
    if (cx.isZero(base)) {
      if (cx.isReal(power) && power.re.mantissa > 0n) return cx.ZERO;
      throw new UndefinedAtPoint("zero to a power that is not positive");
    }
    this.work.spend(1200);
    if (cx.isReal(base) && base.re.mantissa < 0n && cx.isReal(power)) {
      if (exact && exact.d % 2n === 1n) return this.#negativeBase(base, power, exact.n % 2n !== 0n);
      if (power.re.exponent >= 0) return this.#negativeBase(base, power, false);
      const rounded = real.nearestInteger(power.re);
      if (
        real.magnitude(power.re) < 60 &&
        real.sign(real.subtract(power.re, { mantissa: rounded, exponent: 0 }, this.bits)) === 0
      )
        return this.#negativeBase(base, power, rounded % 2n !== 0n);
    }
    return this.real(cx.exp(cx.multiply(power, cx.ln(base, this.#guarded(power)), this.#guarded(power)), this.bits));
  }

  /** Returns the precision for a logarithm that a large exponent will multiply. */
  #guarded(power: Complex): number {
    return this.bits + Math.max(0, Math.min(200, real.magnitude(power.re))) + 8;
  }

  #negativeBase(base: Complex, power: Complex, isOdd: boolean): Complex {
    const parity = power.re.exponent === 0 ? power.re.mantissa % 2n !== 0n : isOdd;
    const size = cx.exp(
      cx.multiply(power, cx.ln(cx.negate(base), this.#guarded(power)), this.#guarded(power)),
      this.bits,
    );
    return (power.re.exponent >= 0 ? parity && power.re.exponent === 0 : isOdd) ? cx.negate(size) : size;
  }
}
