import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { evaluate, limitText } from "../src/math/evaluate.ts";

describe("results", () => {
  test.each([
    ["1/3 + 1/6", "0.5"],
    ["0.1 + 0.2", "0.3"],
    ["1/3", "1/3 ≈ 0.33333333333333333333"],
    ["-7/2", "-3.5"],
    ["1 + 1e-70", `1.${"0".repeat(69)}1`],
    ["2^200", `${2n ** 200n}`],
    ["2^-2", "0.25"],
    ["0^0", "1"],
    ["(-2/3)^3", "-8/27 ≈ -0.2962962962962962963"],
    ["25!", "15511210043330985984000000"],
    ["combinations(100, 50)", "100891344545564193334812497256"],
    ["permutations(5, 2)", "20"],
    ["sqrt(16/9) + 1/3", "5/3 ≈ 1.6666666666666666667"],
    ["4^(1/2)", "2"],
    ["sqrt(2)", "1.414213562373095048801688724209698078569671875376948073176679738"],
    ["sqrt(2)^2", "2"],
    ["2^100000", "9.990020930143845079440327643300335909804291390541816917715292739e+30102"],
    ["pi", "3.141592653589793238462643383279502884197169399375105820974944592"],
    ["log(1000, 10)", "3"],
    ["floor(3 - 1e-20)", "2"],
    ["1 == 1 + 1e-30", "false"],
    ["erf(0.5)", "0.520499877813047 (15 digits)"],
    ["inv([1, 2; 3, 4])", "[[-2, 1], [3/2, -1/2]]"],
    ["det([1/3, 1; 2, 4])", "-2/3 ≈ -0.66666666666666666667"],
    ["[1, 1; 1, 0]^10", "[[89, 55], [55, 34]]"],
    ["5 inch to cm", "12.7 cm"],
    ["20 degC to degF", "68 degF"],
    ["60 km/hour to m/s", `16.${"6".repeat(61)}7 m / s`],
    ["sin(90 deg)", "1"],
    ["(1 + 2i) * (3 + 4i)", "-5 + 10i"],
    ["sqrt(-4)", "2i"],
    ["x = 3\ny = x^2\n[x, y, x/y]", "3\n9\n[3, 9, 1/3]"],
    ["x = [1, 2, 3]; x[2]", "2"],
    ["map([1, 4, 9], sqrt)", "[1, 2, 3]"],
    ["mean([1, 2, 4])", "7/3 ≈ 2.3333333333333333333"],
    ["5 > 3 and 1/3 < 0.34", "true"],
  ])("%s = %s", (expression, expected) => {
    expect(evaluate(expression)).toBe(expected);
  });

  test("a power with too many digits to be exact has 64 correct ones", () => {
    const [mantissa = "", exponent] = evaluate("3^70000").split("e+");
    const digits = `${3n ** 70_000n}`;
    expect(Number(exponent)).toBe(digits.length - 1);
    const rounded = (BigInt(digits.slice(0, 65)) + 5n) / 10n;
    expect(mantissa.replace(".", "").padEnd(64, "0")).toBe(`${rounded}`);
  });

  test("no variable remains for the next expression", () => {
    expect(evaluate("secret = 5; secret")).toBe("5");
    expect(() => evaluate("secret")).toThrow("Unknown name secret");
  });
});

/** Expression with its exact value. */
interface Exact {
  readonly text: string;
  readonly n: bigint;
  readonly d: bigint;
}

const leaf = fc.bigInt({ min: 0n, max: 10n ** 12n }).map((n): Exact => ({ text: `${n}`, n, d: 1n }));
const decimal = fc.tuple(fc.nat(99_999), fc.integer({ min: 1, max: 6 })).map(([digits, places]): Exact => {
  const padded = String(digits).padStart(places + 1, "0");
  return { text: `${padded.slice(0, -places)}.${padded.slice(-places)}`, n: BigInt(digits), d: 10n ** BigInt(places) };
});

const { tree } = fc.letrec<{ tree: Exact }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    decimal,
    fc.tuple(fc.constantFrom("+", "-", "*", "/"), tie("tree"), tie("tree")).map(([operator, a, b]): Exact => {
      const text = `(${a.text} ${operator} ${b.text})`;
      if (operator === "*") return { text, n: a.n * b.n, d: a.d * b.d };
      if (operator === "/")
        return b.n === 0n ? a : { text, n: a.n * b.d * (b.n < 0n ? -1n : 1n), d: a.d * (b.n < 0n ? -b.n : b.n) };
      return { text, n: a.n * b.d + (operator === "+" ? b.n * a.d : -b.n * a.d), d: a.d * b.d };
    }),
    fc
      .tuple(tie("tree"), fc.integer({ min: 0, max: 3 }))
      .map(([a, k]): Exact => ({ text: `(${a.text})^${k}`, n: a.n ** BigInt(k), d: a.d ** BigInt(k) })),
  ),
}));

/** Reads the exact part of a result: an integer, a quotient, or a decimal fraction. */
function read(result: string): readonly [bigint, bigint] {
  const exact = result.split(" ≈ ")[0] ?? "";
  const [mantissa = "", exponent = "0"] = exact.split("e");
  const [numerator = "", denominator = "1"] = mantissa.split("/");
  const [whole = "", places = ""] = numerator.split(".");
  const shift = Number(exponent) - places.length;
  return [
    BigInt(whole + places) * 10n ** BigInt(Math.max(shift, 0)),
    BigInt(denominator) * 10n ** BigInt(Math.max(-shift, 0)),
  ];
}

test("rational arithmetic is exact", () => {
  fc.assert(
    fc.property(tree, ({ text, n, d }) => {
      const [numerator, denominator] = read(evaluate(text));
      expect(numerator * d).toBe(n * denominator);
    }),
    { numRuns: 300 },
  );
});

test("other results have 64 correct digits: the error of a square root is below one unit of the last digit", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 2n, max: 10n ** 30n }), (value) => {
      const root = evaluate(`sqrt(${value})`);
      const [whole = "", places = ""] = root.split(".");
      const scaled = BigInt(whole + places);
      const target = value * 10n ** BigInt(2 * places.length);
      expect((scaled - 1n) ** 2n).toBeLessThan(target);
      expect((scaled + 1n) ** 2n).toBeGreaterThan(target);
    }),
    { numRuns: 100 },
  );
});

test("any text is a result or an error with a message", () => {
  const symbols =
    "0 1 9 . e i x + - * / ^ % ! ' ( ) [ ] { } , ; : = < > ? & | ~ # \" \\ $ @ sin pow a.b pi cm to \n \u202e é".split(
      " ",
    );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 40 }),
        fc.array(fc.constantFrom(...symbols), { maxLength: 12 }).map((parts) => parts.join("")),
      ),
      (text) => {
        try {
          expect(typeof evaluate(text)).toBe("string");
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect((error as Error).message).not.toBe("");
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test("a text within the limit is unchanged; another is cut between characters and states its size", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme-composite", maxLength: 300 }),
      fc.integer({ min: 100, max: 400 }),
      (text, limit) => {
        const bytes = Buffer.byteLength(text);
        const limited = limitText(text, limit);
        expect(Buffer.byteLength(limited.text)).toBeLessThanOrEqual(limit);
        expect(limited.isTruncated).toBe(bytes > limit);
        if (!limited.isTruncated) return expect(limited.text).toBe(text);
        const [kept = ""] = limited.text.split("\n[truncated: ");
        expect(limited.text).toContain(`the whole result has ${bytes} bytes, the limit is ${limit}]`);
        expect(text.startsWith(kept)).toBe(true);
        expect(kept.isWellFormed()).toBe(true);
      },
    ),
  );
});
