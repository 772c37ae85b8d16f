import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { extractCode } from "../src/answer/extract-code.ts";
import { definesFunction } from "../src/answer/solution-code.ts";
import { fences } from "../src/answer/fences.ts";

const any = (): boolean => true;
const code = (response: string, isWanted: (block: string) => boolean = any): string =>
  extractCode(response, "python", isWanted);

describe("the code in a response", () => {
  test.each([
    ["the block of the language", "Try\n```python\nx = 1\n```\nor\n```js\nlet x\n```", "x = 1"],
    ["its other names", "```py\nx = 1\n```", "x = 1"],
    ["the last one of the language", "```python\nx = 1\n```\n```python\nx = 2\n```", "x = 2"],
    ["any block where there is none of the language", "```\nx = 1\n```", "x = 1"],
    ["all of the text where there is no block", "x = 1\n", "x = 1"],
    ["a block that was cut", "```python\nx = 1\ny = 2", "x = 1\ny = 2"],
    ["tildes, and longer fences around shorter ones", "~~~~python\n```\nx = 1\n~~~~", "```\nx = 1"],
    ["without the reasoning", "<think>```python\nx = 0\n```</think>\n```python\nx = 1\n```", "x = 1"],
    ["no code if the reasoning has no end", "<think>x = 0", ""],
    ["indentation of the first line kept", "\n    return 1\n", "    return 1"],
    ["line breaks of other systems", "```python\r\nx = 1\r\ny = 2\r\n```", "x = 1\ny = 2"],
    ["info strings of other forms", "```text\nno\n```\n```{.python .numberLines}\nx = 1\n```", "x = 1"],
    [
      "a file's name in the info string",
      "```text\nno\n```\n```Python:solution.py\nx = 1\n```\n```js\nno\n```",
      "x = 1",
    ],
    ["a session at the prompt is not of the language", "```python\nx = 1\n```\n```python-repl\n>>> x\n```", "x = 1"],
    [
      "a block in a list, without the list's indentation",
      "1. So:\n\n     ```python\n     if x:\n         y = 1\n     ```\n",
      "if x:\n    y = 1",
    ],
    ["a block in a list whose code stands at the margin", "- So:\n    ```python\nx = 1\n    ```\n", "x = 1"],
    ["blocks within a block of Markdown", "```markdown\nSo:\n```python\nx = 1\n```\n```", "x = 1"],
    ["a closing mark behind the last line", "```python\nx = 1\ny = 2```", "x = 1\ny = 2"],
    [
      "a fence in a string of the code",
      '```python\ndef f():\n    """\n    ```\n    f()\n    ```\n    """\n```',
      'def f():\n    """\n    ```\n    f()\n    ```\n    """',
    ],
    ["code between marks on one line is no block", "Use ```x = 1``` here.\n```python\nx = 2\n```", "x = 2"],
  ])("%s", (_name, response, wanted) => expect(code(response)).toBe(wanted));

  const definesF = (block: string): boolean => /^(?:def|function) f\b/m.test(block);
  test.each([
    [
      "sentences around code without a block",
      "Sure! Here is the function:\n\nimport math\n\ndef f(x):\n    return x\n\nThis works because x is x.",
      "import math\n\ndef f(x):\n    return x",
    ],
    [
      "code alone, with what looks like a sentence in it",
      "def f(x):\n    return x\n\nprint(f(1))",
      "def f(x):\n    return x\n\nprint(f(1))",
    ],
    [
      "a fence in a string of code without a block",
      'def f():\n    """\n    ```\n    f()\n    ```\n    """\n    return 1',
      'def f():\n    """\n    ```\n    f()\n    ```\n    """\n    return 1',
    ],
    ["a body alone in its block", "So:\n```python\n    return 1\n```", "    return 1"],
  ])("%s", (_name, response, wanted) => expect(code(response, definesF)).toBe(wanted));

  test("sentences around TypeScript without a block", () => {
    expect(
      extractCode(
        "The function is as follows.\n\nfunction f(x: number): number {\n  return x;\n}\n\nIt returns x.",
        "typescript",
        definesF,
      ),
    ).toBe("function f(x: number): number {\n  return x;\n}");
  });

  const long = 200_000;
  test.each([
    ["marks", "`".repeat(long)],
    ["a long info string", `\`\`\`${"a".repeat(long)}\``],
    ["blanks in an info string", `\`\`\` ${" ".repeat(long)}\``],
    ["blanks behind a name", `def f${" ".repeat(long)}`],
    ["names in an import", `from ${"f ".repeat(long)}`],
    ["line breaks", "\n".repeat(long)],
  ])("a reply that is made to be slow to read is read at once: %s", (_name, response) => {
    expect(typeof code(response, (block) => definesFunction(block, { language: "python", entryPoint: "f" }))).toBe(
      "string",
    );
  });

  test("a block that defines what is asked for goes before an example of its use", () => {
    const response = "```python\ndef f(): pass\n```\n```python\nf()\n```";
    expect(code(response, (block) => block.includes("def f"))).toBe("def f(): pass");
  });

  test("what stands in a fence comes out as it is, whatever stands around it", () => {
    const line = fc.string().filter((text) => !/[`~\r\n]/.test(text));
    fc.assert(
      fc.property(
        fc.array(line),
        line.map((text) => text.trim()),
        (lines, before) => {
          const content = lines.join("\n");
          expect(fences(`${before}\n\`\`\`python\n${content}\n\`\`\`\n${before}`)).toEqual([
            { language: "python", content, indent: 0 },
          ]);
        },
      ),
    );
  });

  test("nothing makes it throw", () => {
    fc.assert(
      fc.property(
        fc
          .array(fc.constantFrom("```", "~~~", "python", "\n", "<think>", "</think>", " ", "x", "`"))
          .map((parts) => parts.join("")),
        (response) => expect(typeof code(response)).toBe("string"),
      ),
    );
  });
});
