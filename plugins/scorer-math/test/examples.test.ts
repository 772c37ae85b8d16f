import { describe, expect, test } from "@jest/globals";
import { verify } from "../src/index.ts";
import type { VerifyOptions } from "../src/options.ts";
import { sharedRows } from "./rows.ts";

type Row = { gold: string; answer: string; equivalent: boolean; options?: VerifyOptions };

const rows = sharedRows<Row>("math_equivalence_examples.jsonl") ?? [];

(rows.length > 0 ? describe : describe.skip)("labelled examples (skipped without ../shared/data)", () => {
  test("every pair gets its label", () => {
    const wrong = rows.filter(({ gold, answer, options, equivalent }) => {
      return (
        verify(gold, answer, { ...options, form: "equivalent" }).verdict !== (equivalent ? "equivalent" : "different")
      );
    });
    expect(wrong).toEqual([]);
  });
});
