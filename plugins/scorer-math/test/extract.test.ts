import { describe, expect, test } from "@jest/globals";
import { extract } from "../src/index.ts";
import type { ExtractOptions } from "../src/extract/extract.ts";

const found = (text: string, options: ExtractOptions = {}): string | undefined => {
  const result = extract(text, options);
  return result.found ? result.answer : undefined;
};

describe("extraction by schema", () => {
  test.each<[string, string, string, string | undefined]>([
    ["boxed", "strict", "so \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"],
    ["boxed", "strict", "$\\boxed{1}$ and $\\fbox{2}$", "1, 2"],
    ["boxed", "strict", "first \\boxed{1}. Later: \\boxed{2}", "2"],
    ["boxed", "strict", "the answer is 5", undefined],
    ["boxed", "lenient", "the answer is 5", "5."],
    ["boxed", "strict", "\\boxed{\\text{a \\{ b} }", "\\text{a \\{ b}"],
    ["answer", "strict", "<answer> 5 </answer>", "5"],
    ["answer", "strict", "<answer>5", undefined],
    ["answer", "lenient", "<answer>5", "5"],
    ["answer", "strict", "\\boxed{5}", undefined],
    ["answer", "strict", "<answer></answer>", undefined],
    ["answer", "strict", "<answer>3</answer> no, <answer>4</answer>", "4"],
    ["result", "strict", "<result>7</result><answer>8</answer>", "7"],
    ["gsm8k", "strict", "6 * 3 = <<6*3=18>>18\n#### 18", "18"],
    ["gsm8k", "strict", "#### $1,800", "1,800"],
    ["gsm8k", "strict", "18", undefined],
    ["text", "strict", "  x = 5 ", "x = 5"],
    ["any", "strict", "the answer is 5", undefined],
    ["any", "strict", "\\boxed{5}", "5"],
  ])("%s, %s: %j", (schema, mode, text, answer) => {
    const result = found(text, { schema, mode: mode as "strict" | "lenient" });
    expect(result?.replace(/\.$/, "")).toBe(answer?.replace(/\.$/, ""));
  });

  test("letters that change their length with their case do not move what a tag holds", () => {
    expect(extract("İİİİ <ANSWER>5</ANSWER>", { schema: "answer" })).toMatchObject({ found: true, answer: "5" });
  });

  test("a name that no tag can have finds nothing", () => {
    expect(extract("<a b>5</a b>", { schema: "a b", mode: "strict" })).toMatchObject({ found: false });
  });

  test("what follows the end of the turn, and what was thought before the answer, do not count", () => {
    expect(found("\\boxed{5}<|im_end|>\\boxed{6}")).toBe("5");
    expect(found("<think>\\boxed{6}</think> It is \\boxed{5}")).toBe("5");
  });

  test("a reference is taken at its word", () => {
    expect(found("It is not 5", { isReference: true })).toBe("5");
    expect(found("It is not 5")).toBeUndefined();
  });

  test.each([
    "\\boxed{42 \\text{ (wrong)}}",
    "\\boxed{42 \\text{ maybe}}",
    "\\boxed{\\text{probably } 42}",
    "\\boxed{\\cancel{42}}",
    "<answer>42 (wrong)</answer>",
    "<answer>probably 42</answer>",
    "#### 42 (this is wrong)",
  ])("U10: hedged or denied words beside a value make it no answer: %j", (text) => {
    expect(found(text)).toBeUndefined();
    expect(extract(text, { isReference: true }).found).toBe(true);
  });

  test.each([
    "<answer>5 \\boxed{42}</answer>",
    "<answer>5, \\boxed{42}</answer>",
    "<answer>\\boxed{42} or 5</answer>",
    "<answer>2 \\cdot \\boxed{42}</answer>",
    "<answer>\\boxed{42} \\approx 5</answer>",
    "<answer>5 $42$</answer>",
    "<answer>$5$ $42$</answer>",
    "\\boxed{5 $42$}",
  ])("U13: a value beside the value of a box makes it no answer: %j", (text) => {
    expect(found(text)).toBeUndefined();
  });

  test.each([
    "<answer>\\boxed{42}</answer>",
    "<answer>x = \\boxed{42}</answer>",
    "<answer>6 \\times 7 = \\boxed{42}</answer>",
    "<answer>The answer is \\boxed{42}.</answer>",
    "<answer>Step 2: \\boxed{42}</answer>",
    "<answer>$42$</answer>",
  ])("U13: a name, a calculation or a sentence before a box leaves it the answer: %j", (text) => {
    expect(found(text)).toBe("42");
  });
});
