import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { extractCode } from "../src/answer/extract-code.ts";
import { fences } from "../src/answer/fences.ts";

const any = (): boolean => true;
const code = (said: string, isWanted: (block: string) => boolean = any): string => extractCode(said, "python", isWanted);

describe("the code in what was said", () => {
  test.each([
    ["the block of the language", "Try\n```python\nx = 1\n```\nor\n```js\nlet x\n```", "x = 1"],
    ["its other names", "```py\nx = 1\n```", "x = 1"],
    ["the last one of the language", "```python\nx = 1\n```\n```python\nx = 2\n```", "x = 2"],
    ["any block where there is none of the language", "```\nx = 1\n```", "x = 1"],
    ["all of the text where there is no block", "x = 1\n", "x = 1"],
    ["a block that was cut", "```python\nx = 1\ny = 2", "x = 1\ny = 2"],
    ["tildes, and longer fences around shorter ones", "~~~~python\n```\nx = 1\n~~~~", "```\nx = 1"],
    ["without the reasoning", "<think>```python\nx = 0\n```</think>\n```python\nx = 1\n```", "x = 1"],
    ["nothing while the reasoning goes on", "<think>x = 0", ""],
    ["indentation of the first line kept", "\n    return 1\n", "    return 1"],
    ["line breaks of other systems", "```python\r\nx = 1\r\ny = 2\r\n```", "x = 1\ny = 2"],
  ])("%s", (_name, said, wanted) => expect(code(said)).toBe(wanted));

  test("a block that defines what is asked for goes before an example of its use", () => {
    const said = "```python\ndef f(): pass\n```\n```python\nf()\n```";
    expect(code(said, (block) => block.includes("def f"))).toBe("def f(): pass");
  });

  test("what stands in a fence comes out as it is, whatever stands around it", () => {
    const line = fc.string().filter((text) => !/[`~\r\n]/.test(text));
    fc.assert(
      fc.property(fc.array(line), line.map((text) => text.trim()), (lines, before) => {
        const content = lines.join("\n");
        expect(fences(`${before}\n\`\`\`python\n${content}\n\`\`\`\n${before}`)).toEqual([{ language: "python", content }]);
      }),
    );
  });

  test("nothing makes it throw", () => {
    fc.assert(fc.property(fc.array(fc.constantFrom("```", "~~~", "python", "\n", "<think>", "</think>", " ", "x", "`")).map((parts) => parts.join("")), (said) => expect(typeof code(said)).toBe("string")));
  });
});
