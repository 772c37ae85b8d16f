import { describe, expect, test } from "@jest/globals";
import { extract, verify } from "../src/index.ts";
import { sharedRows } from "./rows.ts";

type Row = { question: string; answer: string };

const rows = sharedRows<Row>("gsm8k_test.jsonl") ?? [];
const written = rows.map(({ answer }) => answer.split("####")[1]?.trim() ?? "");
const value = (i: number): number => Number(written[i % rows.length]?.replaceAll(",", ""));

(rows.length > 0 ? describe : describe.skip)("GSM8K (skipped without ../shared/data)", () => {
  test("all 1,319 answers are extracted from their worked solutions", () => {
    const found = rows.map(({ answer }) => extract(answer, { schema: "gsm8k", mode: "strict" }));
    expect(found.map((result) => (result.found ? result.answer : result.reason))).toEqual(written);
    expect(found).toHaveLength(1319);
  });

  test("every answer equals itself, as a solution and alone", () => {
    const wrong = rows.filter(({ answer }, i) => {
      return [answer, written[i] as string].some((expected) => verify(expected, answer).verdict !== "equivalent");
    });
    expect(wrong).toEqual([]);
  });

  test("no answer equals its neighbour's, unless the numbers are equal", () => {
    const wrong = rows.filter(({ answer }, i) => {
      const neighbour = rows[(i + 1) % rows.length] as Row;
      return verify(answer, neighbour.answer).verdict !== (value(i) === value(i + 1) ? "equivalent" : "different");
    });
    expect(wrong).toEqual([]);
  });
});
