import { describe, expect, test } from "@jest/globals";
import { definesFunction, solutionCode } from "../src/answer/solution-code.ts";
import type { FunctionProblem } from "../src/problem/problem.ts";

const python = {
  kind: "function",
  language: "python",
  entryPoint: "add",
  stub: { preamble: "import math\n\n\n", head: 'def add(a, b):\n    """Add."""\n', tail: "" },
  reference: null,
  harness: "",
  tests: [],
} satisfies FunctionProblem;
const typescript = {
  ...python,
  language: "typescript",
  stub: { preamble: "", head: "function add(a: number, b: number): number {\n", tail: "}\n" },
} satisfies FunctionProblem;

describe("answers of Python", () => {
  const whole = 'import math\n\n\ndef add(a, b):\n    """Add."""\n';
  test.each([
    ["a whole function", "def add(a, b):\n    return a + b", "import math\n\n\ndef add(a, b):\n    return a + b", 3],
    ["a lambda", "add = lambda a, b: a + b", "import math\n\n\nadd = lambda a, b: a + b", 3],
    ["a body", "    return a + b", `${whole}    return a + b\n`, 5],
    [
      "a body, and more behind it",
      "    return a + b\n\ndef main():\n    pass",
      `${whole}    return a + b\n\ndef main():\n    pass\n`,
      5,
    ],
    ["a body from the margin", "c = a\nreturn c + b", `${whole}    c = a\n    return c + b\n`, 5],
    [
      "a body from the margin with a block",
      "for i in range(b):\n    a += 1\nreturn a",
      `${whole}    for i in range(b):\n        a += 1\n    return a\n`,
      5,
    ],
    [
      "a body whose first line lost its indentation",
      "c = a\n    return c + b",
      `${whole}    c = a\n    return c + b\n`,
      5,
    ],
    [
      "a body whose first line opens a block and lost its indentation",
      "for i in range(b):\n        a += 1\n    return a",
      `${whole}    for i in range(b):\n        a += 1\n    return a\n`,
      5,
    ],
  ])("%s", (_name, response, code, offset) => expect(solutionCode(response, python)).toEqual({ code, offset }));

  test.each([
    ["of two spaces", "  c = a\n  return c + b", "  "],
    ["of a tab, behind a comment", "    # Adds.\n\tc = a\n\treturn c + b", "\t"],
  ])("N6: a docstring is brought to the level of a body %s", (_name, response, level) => {
    expect(solutionCode(response, python)).toEqual({
      code: `import math\n\n\ndef add(a, b):\n${level}"""Add."""\n${response}\n`,
      offset: 5,
    });
  });

  test("N6: a byte order mark before an answer is no part of it", () => {
    expect(solutionCode("\ufeffdef add(a, b): pass", python).code).toBe("import math\n\n\ndef add(a, b): pass");
    expect(solutionCode("\ufefffrom __future__ import annotations\ndef add(a, b): pass", python).code).toMatch(
      /^from __future__ import annotations\nimport math\n\n\npass +\ndef add/,
    );
  });

  const behind = (rest: string): string => `import math\n\n\n${rest}\n\ndef add(a, b):\n    return a + b`;
  test.each([
    ["one", "from __future__ import annotations", "annotations", `pass${" ".repeat(30)}`],
    [
      "behind a shebang, a coding line and a docstring",
      '#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n"""Adds."""\nfrom __future__ import annotations',
      "annotations",
      `#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n"""Adds."""\npass${" ".repeat(30)}`,
    ],
    [
      "in brackets, over lines",
      "from __future__ import (\n    annotations,  # PEP 563\n    division,\n)",
      "annotations, division",
      `pass${" ".repeat(20)}\n${" ".repeat(27)}\n${" ".repeat(13)}\n `,
    ],
    [
      "several, and code on their line",
      "from __future__ import division\nfrom __future__ import annotations; import os",
      "division, annotations",
      `pass${" ".repeat(27)}\npass${" ".repeat(30)}; import os`,
    ],
  ])("N6: an import from __future__ comes before the problem's imports: %s", (_name, response, names, kept) => {
    const { code, offset } = solutionCode(`${response}\n\ndef add(a, b):\n    return a + b`, python);
    expect(code).toBe(`from __future__ import ${names}\n${behind(kept)}`);
    expect(offset).toBe(4);
  });

  test("N6: a preamble with a docstring and an import from __future__ of its own; a late one stays what it is, an error", () => {
    const stub = { ...python.stub, preamble: '"""Sums."""\nfrom __future__ import division\n' };
    expect(solutionCode("from __future__ import annotations\ndef add(a, b): pass", { ...python, stub }).code).toBe(
      `from __future__ import division, annotations\n"""Sums."""\npass${" ".repeat(27)}\npass${" ".repeat(30)}\ndef add(a, b): pass`,
    );
    expect(solutionCode("import os\nfrom __future__ import annotations\ndef add(a, b): pass", python).code).toBe(
      "import math\n\n\nimport os\nfrom __future__ import annotations\ndef add(a, b): pass",
    );
  });

  test.each([["def add_all(a): pass"], ["added = 1"], ["    def add(a): pass"], ["add == 1"], ["# def add"]])(
    "%s does not define add",
    (response) => expect(definesFunction(response, python)).toBe(false),
  );
});

describe("answers of TypeScript", () => {
  test.each([
    ["a whole function", "function add(a, b) { return a + b; }", "function add(a, b) { return a + b; }", 0],
    ["an arrow function", "const add = (a, b) => a + b;", "const add = (a, b) => a + b;", 0],
    ["a body", "return a + b;", "function add(a: number, b: number): number {\nreturn a + b;\n}\n", 1],
    [
      "a body with the closing brace",
      "  return a + b;\n}",
      "function add(a: number, b: number): number {\n  return a + b;\n\n}\n",
      1,
    ],
  ])("%s", (_name, response, code, offset) => expect(solutionCode(response, typescript)).toEqual({ code, offset }));
});
