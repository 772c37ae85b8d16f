import { describe, expect, test } from "@jest/globals";
import { verify } from "../src/index.ts";
import type { VerifyOptions } from "../src/options.ts";
import type { Verification } from "../src/verify.ts";
import { rowsOf } from "./rows.ts";

/** `directed`: the label holds for this order only (a decimal reference, or a text to extract from). */
type Row = {
  kind: string;
  expected: string;
  answer: string;
  equivalent: boolean;
  options?: VerifyOptions;
  directed?: true;
};

/** Equivalence alone; `form.test.ts` has the answers that are equivalent and not computed. */
const verifyEquivalence = (expected: string, answer: string, options: VerifyOptions = {}): Verification =>
  verify(expected, answer, { ...options, form: "equivalent" });

/** Forms of answers, and complete outputs of models with the answers of data sets. */
const rows = ["corpus.jsonl", "outputs.jsonl"].flatMap((file) => rowsOf<Row>(file));
const kinds = [...new Set(rows.map(({ kind }) => kind))];

describe.each(kinds)("labelled pairs: %s", (kind) => {
  const ofKind = rows.filter((row) => row.kind === kind);
  const wrong = (pairs: readonly Row[]): readonly unknown[] =>
    pairs.flatMap((row) => {
      const { verdict, method, reason, expected, answer } = verifyEquivalence(row.expected, row.answer, row.options);
      return verdict === (row.equivalent ? "equivalent" : "different")
        ? []
        : [{ row, verdict, method, reason, expected, answer }];
    });

  test("every pair gets its label", () => {
    expect(wrong(ofKind)).toEqual([]);
  });

  test("and in the other order", () => {
    const symmetric = ofKind.filter(({ directed }) => directed !== true);
    expect(wrong(symmetric.map((row) => ({ ...row, expected: row.answer, answer: row.expected })))).toEqual([]);
  });
});
