import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { verify } from "../src/index.ts";
import { expressions, perturb, rewrite, valueAt, write } from "./expressions.ts";
import { rowsOf } from "./rows.ts";

const choice = fc.nat({ max: 1_000_000 });
/** Equivalence is symmetric; the form of an answer is not, nor whether the answer or the reference is the unreadable side. */
const verdict = (expected: string, answer: string): string =>
  verify(expected, answer, { form: "equivalent" }).verdict.replace("bad-reference", "unreadable");

describe("expressions", () => {
  test("an expression equals itself in another spelling", () => {
    fc.assert(
      fc.property(expressions, choice, choice, (e, a, b) => {
        expect(verdict(`$${write(e, a)}$`, `$${write(e, b)}$`)).toBe("equivalent");
      }),
      { numRuns: 1200 },
    );
  });

  test("an expression equals its rewrite, in both orders", () => {
    fc.assert(
      fc.property(expressions, choice, choice, (e, choices, style) => {
        const [a, b] = [`$${write(e, style)}$`, `$${write(rewrite(e, choices), style + 1)}$`];
        expect([verdict(a, b), verdict(b, a)]).toEqual(["equivalent", "equivalent"]);
      }),
      { numRuns: 1200 },
    );
  });

  test("an expression differs from its perturbation, in both orders", () => {
    fc.assert(
      fc.property(expressions, choice, choice, (e, choices, style) => {
        const other = perturb(e, choices);
        fc.pre([1, 2, 3].some((seed) => valueAt(e, seed) !== valueAt(other, seed)));
        const [a, b] = [`$${write(e, style)}$`, `$${write(other, style + 1)}$`];
        expect([verdict(a, b), verdict(b, a)]).toEqual(["different", "different"]);
      }),
      { numRuns: 1200 },
    );
  });
});

describe("numbers", () => {
  const integer = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n });
  const grouped = (n: bigint): string => n.toString().replace(/\B(?=(\d{3})+$)/g, ",");

  test("integers of any size are compared digit by digit", () => {
    fc.assert(
      fc.property(integer, fc.constantFrom(0n, 1n, -1n, 10n ** 20n), (n, difference) => {
        expect(verdict(`${n}`, grouped(n + difference))).toBe(difference === 0n ? "equivalent" : "different");
      }),
      { numRuns: 1000 },
    );
  });

  test("fractions are compared exactly", () => {
    const part = fc.integer({ min: 1, max: 10 ** 9 });
    fc.assert(
      fc.property(part, part, part, fc.boolean(), (a, b, k, isSame) => {
        const top = BigInt(a) * BigInt(k) + (isSame ? 0n : 1n);
        expect(verdict(`$\\frac{${a}}{${b}}$`, `${top}/${BigInt(b) * BigInt(k)}`)).toBe(
          isSame ? "equivalent" : "different",
        );
      }),
      { numRuns: 1000 },
    );
  });

  test("a decimal reference admits what rounds to it, and an exact one only what equals it", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 ** 6 }),
        fc.integer({ min: 3, max: 997 }),
        fc.integer({ min: 1, max: 6 }),
        (a, b, places) => {
          fc.pre((BigInt(a) * 10n ** BigInt(places)) % BigInt(b) !== 0n);
          // Rounded half up in integers; a tie has two roundings and is left out.
          const scaled = 2n * BigInt(a) * 10n ** BigInt(places);
          fc.pre(scaled % BigInt(b) !== 0n);
          const digits = ((scaled / BigInt(b) + 1n) / 2n).toString().padStart(places + 1, "0");
          const decimal = `${digits.slice(0, -places)}.${digits.slice(-places)}`;
          expect([verdict(decimal, `${a}/${b}`), verdict(`${a}/${b}`, decimal)]).toEqual(["equivalent", "different"]);
          const next = (BigInt(digits) + 1n).toString().padStart(places + 1, "0");
          expect(verdict(`${next.slice(0, -places)}.${next.slice(-places)}`, `${a}/${b}`)).toBe("different");
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("sums of square roots equal their simplified form", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 2, max: 40 }),
        (a, k, b) => {
          const [left, right] = [`\\sqrt{${a * k * k}}+\\sqrt{${b}}`, `\\sqrt{${b}}+${k}\\sqrt{${a}}`];
          expect(verdict(`$${left}$`, `$${right}$`)).toBe("equivalent");
          expect(verdict(`$${left}$`, `$${right}+10^{-30}$`)).toBe("different");
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("sets", () => {
  const end = fc.integer({ min: -50, max: 50 });

  test("intervals equal their inequalities, and not those with another end or bracket", () => {
    fc.assert(
      fc.property(
        end,
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        fc.boolean(),
        (low, length, isLowClosed, isHighClosed) => {
          const high = low + length;
          const write = (a: boolean, b: boolean): string => `${a ? "[" : "("}${low},${high}${b ? "]" : ")"}`;
          const inequality = `${high}${isHighClosed ? "\\ge" : ">"} x ${isLowClosed ? "\\ge" : ">"} ${low}`;
          expect(verdict(`$${write(isLowClosed, isHighClosed)}$`, `$${inequality}$`)).toBe("equivalent");
          expect(verdict(`$${inequality}$`, `$${write(isLowClosed, isHighClosed)}$`)).toBe("equivalent");
          expect(verdict(`$${write(isLowClosed, !isHighClosed)}$`, `$${inequality}$`)).toBe("different");
        },
      ),
      { numRuns: 500 },
    );
  });

  test("lists ignore order, tuples do not", () => {
    fc.assert(
      fc.property(fc.uniqueArray(end, { minLength: 2, maxLength: 6 }), (items) => {
        const reversed = [...items].reverse();
        expect(verdict(`$\\{${items.join(", ")}\\}$`, `$${reversed.join(", ")}$`)).toBe("equivalent");
        expect(verdict(`$(${items.join(", ")})$`, `$(${reversed.join(", ")})$`)).toBe("different");
        expect(verdict(`$${items.join(", ")}$`, `$${items.slice(1).join(", ")}$`)).toBe("different");
      }),
      { numRuns: 500 },
    );
  });
});

describe("any two answers", () => {
  const isDecimal = (text: string): boolean => /\d\.\d/.test(text);
  type Row = { expected: string; answer: string; kind: string; directed?: true };
  const forms = rowsOf<Row>("corpus.jsonl").filter(({ kind }) => kind !== "extraction");
  const outputs = rowsOf<Row>("outputs.jsonl").filter(({ directed }) => directed !== true);
  const answers = [...new Set([...forms, ...outputs].flatMap(({ expected, answer }) => [expected, answer]))];

  test("an answer equals itself", () => {
    expect(answers.filter((answer) => verdict(answer, answer) !== "equivalent")).toEqual([]);
  });

  test("the verdict is symmetric between exact forms", () => {
    const exact = answers.filter((answer) => !isDecimal(answer));
    fc.assert(
      fc.property(fc.constantFrom(...exact), fc.constantFrom(...exact), (a, b) => {
        expect(verdict(a, b)).toBe(verdict(b, a));
      }),
      { numRuns: 2500 },
    );
  });
});
