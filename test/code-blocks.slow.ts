import { expect, test } from "@jest/globals";
import { codeBlocks } from "./code-blocks/blocks.ts";
import { compileFaults, isOfFile } from "./code-blocks/typescript.ts";

test("TypeScript of pages is part of a source file, or compiles", async () => {
  const others = codeBlocks().filter((block) => block.language === "ts" && !isOfFile(block));
  expect(await compileFaults(others)).toEqual([]);
}, 120_000);
