import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { extract, verify } from "../src/index.ts";
import type { Verdict } from "../src/verdict.ts";
import { WORK_LIMIT } from "../src/verify.ts";

/** Pieces of LaTeX and text that mean something to the reader, in senseless orders. */
const pieces = fc.constantFrom(
  ..."\\frac \\sqrt \\left( \\right) \\{ \\} { } ( ) [ ] ^ _ | \\| & \\\\ , ; : = < > \\le \\ne \\pm \\cup \\in + - * / ! % $ $$ \\( \\) \\[ \\] \\text{ \\boxed{ \\begin{pmatrix} \\end{pmatrix} \\begin{cases} \\end{cases} \\sum \\int \\log \\sin ^\\circ \\infty \\overline{ \\pmod 1 2 10 0.5 x y e i \\pi and or not is the answer <answer> </answer> #### cm \\mathbb{R} ' … √ ² ½".split(
    " ",
  ),
);
const soup = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(" "));
const garbage = fc.oneof(
  soup,
  soup.map((text) => `$${text}$`),
  soup.map((text) => `\\boxed{${text}}`),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({ maxLength: 200 }),
);

const VERDICTS: readonly Verdict[] = [
  "equivalent",
  "different",
  "not-computed",
  "unreadable",
  "undecided",
  "bad-reference",
];

function expectBounded(expected: string, answer: string): void {
  const first = verify(expected, answer);
  expect(VERDICTS).toContain(first.verdict);
  // One operation may overrun the budget by what it asks for at once, and no more.
  expect(first.work).toBeLessThan(2 * WORK_LIMIT);
  expect(verify(expected, answer)).toEqual(first);
}

/** Pieces of what models write around their answers: sentences, names, boxes, prices, turns. */
const phrases = fc.constantFrom(
  ..."The answer is|Final Answer:|I hope it is correct.|so|hence|and|or|since|after selling 3|there are|exactly|seven|of the|such numbers.|increases by|50%|\\boxed{3}|\\boxed{a=1, b=2}|\\boxed{x \\text{ or } y}|cats|dogs.|(a)|(b)|$x_1=|$|AB:CD=|3:4|P(X \\ge 2)=|f(x)=|1=y=x=|0<g(t)<1|A(1,2)|;|,|2.500,75 €|1,250.5m²|3,20 $|$\\$5$|Rs. 500|CHF|12 345,6|-2,5 °C|\n|\n\nQuestion:|\n\nUser:|<|im_start|>user|<|im_end|>|[INST]|</s>|=|4|5/6|$\\blacksquare$|Q.E.D.|one".split(
    "|",
  ),
);
const outputs = fc.array(phrases, { maxLength: 40 }).map((parts) => parts.join(" "));

describe("any input", () => {
  test("random outputs of models give a verdict, the same one twice, within the work budget", () => {
    fc.assert(
      fc.property(outputs, outputs, (expected, answer) => expectBounded(expected, answer)),
      { numRuns: 400 },
    );
  });

  test("random text gives a verdict, the same one twice, within the work budget", () => {
    fc.assert(
      fc.property(garbage, garbage, (expected, answer) => expectBounded(expected, answer)),
      { numRuns: 2000 },
    );
  });

  test("extraction from random text never throws", () => {
    fc.assert(
      fc.property(
        garbage,
        fc.constantFrom("any", "boxed", "answer", "gsm8k", "text", "tag", "<", ""),
        fc.constantFrom("strict" as const, "lenient" as const),
        (text, schema, mode) => {
          expect(typeof extract(text, { schema, mode }).found).toBe("boolean");
        },
      ),
      { numRuns: 2000 },
    );
  });

  const repeat = (text: string, count: number): string => text.repeat(count);
  test.each([
    ["a tower of powers", "9^9^9^9"],
    ["a factorial of a factorial", "$((7!)!)!$"],
    ["a huge power", "$10^{1000000000}$"],
    ["a power of a large polynomial", "$(x+y+z+w+1)^{60}$"],
    ["nested powers of polynomials", "$((x+1)^{50}+1)^{50}$"],
    ["nested radicals", `$${repeat("\\sqrt{1+", 50)}1${repeat("}", 50)}$`],
    ["deep radicals", `$${repeat("\\sqrt{", 900)}2${repeat("}", 900)}$`],
    ["a hundred thousand brackets", repeat("(", 100_000) + repeat(")", 100_000)],
    ["a thousand brackets in a formula", `$${repeat("(", 1000)}1${repeat(")", 1000)}$`],
    ["a megabyte of letters", repeat("a", 1_000_000)],
    ["a megabyte of digits", repeat("7", 1_000_000)],
    ["a megabyte of dollars", repeat("$", 1_000_000)],
    ["a megabyte of spaces", `${repeat(" ", 1_000_000)}5`],
    ["unclosed boxes", repeat("\\boxed{", 100_000)],
    ["boxes in one sentence", `${repeat("\\boxed{3} cats and ", 5000)}dogs`],
    ["boxes with names", repeat("a = \\boxed{3}, ", 5000)],
    ["nested names", `$${repeat("P(A)=", 900)}1$`],
    ["names of ratios", `$${repeat("AB:", 900)}C=1$`],
    ["many solutions", `$${repeat("a=1,b=2;", 400)}$`],
    ["a chain of variables", `$${Array.from({ length: 300 }, (_, i) => `x_{${i}}`).join("=")}=1$`],
    ["numbers without end", repeat("1.234,", 20_000)],
    ["digits with spaces", repeat("123 ", 30_000)],
    ["many short sentences", repeat("It is. ", 30_000)],
    ["many turns", repeat("\n\nQuestion: ", 20_000)],
    ["many markers", repeat("<|im_start|>user", 20_000)],
    ["counted words", repeat("exactly ", 20_000)],
    ["prices", repeat("5,5 $ ", 20_000)],
    ["subordinate clauses", `5${repeat(", since", 10_000)}`],
    ["unclosed tags", repeat("<answer>", 100_000)],
    ["unclosed environments", `$${repeat("\\begin{pmatrix}", 200)}$`],
    ["many anchors", repeat("the answer is ", 60_000)],
    ["a tower in an exponent", "$e^{e^{e^{e^{e^{e}}}}}$"],
    ["a sine of a huge number", "$\\sin(10^{200})$"],
    ["a double sum", "$\\sum_{k=1}^{500}\\sum_{j=1}^{500} kj$"],
    ["a long sum of radicals", `$${Array.from({ length: 150 }, (_, i) => `\\sqrt{${i + 2}}`).join("+")}$`],
    ["a product of many radicals", `$${Array.from({ length: 60 }, (_, i) => `(1+\\sqrt{${i + 2}})`).join("")}$`],
    ["an inequality of high degree", "$x^{40}+x^{17}-3x^5+1<0$"],
    ["unclosed formulas", repeat("\\[ x ", 4000)],
    ["equations on many lines", `${repeat("a=b=c=d\n", 200)}x`],
    ["an integral over empty groups", `$\\int ${repeat("{}", 180)}$`],
    ["a derivative of nested sines", `$\\frac{d}{dx}${repeat("\\sin(", 40)}x${repeat(")", 40)}$`],
    ["many absolute values", `$${repeat("|x|<1,", 400)}$`],
    ["words without end in a tag", `<answer>${repeat("answer is ", 2000)}</answer>`],
    ["full stops within an answer", `1${repeat(".", 3900)}x`],
    ["white space within an answer", `<answer>1$${repeat("\n", 3900)}x</answer>`],
    ["a lone surrogate", "$\\frac{\ud800}{2}$"],
    ["a long list", `$${Array.from({ length: 900 }, (_, i) => i).join(",")}$`],
  ])("%s stays within the budget", (_name, text) => {
    expectBounded(text, text);
    expectBounded(text, "$5$");
    expectBounded("$x+1$", text);
    expectBounded("0.5", text);
  });
});
