import { expect, test } from "@jest/globals";
import { countPython, countTypeScript } from "../lib/code-lines.mjs";

test("TypeScript: blank lines, comments and imports are no code; what stands beside them is", () => {
  const text = `// A comment.
import { a } from "a";
import {
  b,
} from "b";

/* two
   lines */ const c = 1; // kept
const d = "// no comment";
const e = \`
text
\`;
export { a } from "a";
`;
  expect(countTypeScript("x.ts", text)).toBe(6);
});

test("Python: docstrings are no code, other texts of several lines are", () => {
  const text = `"""A docstring
of two lines."""
import os
from a import (
    b,
)


def f():
    """Docstring."""
    # comment
    return """two
lines"""  # kept
`;
  expect(countPython([text, ""])).toEqual([3, 0]);
});
