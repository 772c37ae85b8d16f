import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { limitText } from "../src/limit-text.ts";

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
