import fc from "fast-check";

// Python sources with a function `check` whose statements are difficult to separate: strings of every form, brackets and comments over several lines,
// blocks in blocks, decorators, blank lines and tabs.

const name = fc.constantFrom("candidate", "x", "data", "_y1", "größe");
const string = fc.constantFrom(
  "'a'",
  '"b # no comment"',
  "'it\\'s'",
  '"""doc\n  x = (1\n"""',
  "'''\nif x:\n'''",
  'r"\\d"',
  "b'x'",
  "''",
  '""',
  'f"{x!r:>{10}} {{no}}"',
  "f'{data[\"a\"]}'",
  'rb"\\("',
  "u'é'",
  "\"a\" 'b'",
  "'''a'b''c'''",
);
const number = fc.constantFrom("0", "1.5", "0x1f", "1_000", "1e-6", "2j", ".5", "3.");
const operator = fc.constantFrom(
  " + ",
  "-",
  " == ",
  " < ",
  " and ",
  " or ",
  " if x else ",
  " is not ",
  " in ",
  " // ",
  "**",
  " != ",
  " \\\n + ",
);

const expression: fc.Arbitrary<string> = fc.letrec<{ expression: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { depthSize: "small" },
    name,
    string,
    number,
    fc.constantFrom("None", "True", "...", "lambda x: x", "[y for y in data if y]", "{**data, 'k': 1}", "{1, 2}"),
  ),
  expression: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("atom"),
    fc.tuple(tie("atom"), operator, tie("atom")).map(([a, o, b]) => `(${a})${o}(${b})`),
    fc
      .tuple(name, fc.array(tie("expression"), { maxLength: 3 }), fc.constantFrom(", ", ",\n        ", ",  # why\n"))
      .map(([f, items, comma]) => `${f}(${items.join(comma)})`),
    fc.array(tie("expression"), { minLength: 1, maxLength: 3 }).map((items) => `[\n${items.join(",\n")},\n]`),
    fc.tuple(name, tie("expression")).map(([a, b]) => `${a}[${b}]`),
    tie("expression").map((inner) => `(${inner})`),
  ),
})).expression;

const simple = fc.oneof(
  expression.map((e) => `assert ${e}`),
  fc.tuple(expression, string).map(([e, s]) => `assert ${e}, ${s}`),
  fc.tuple(name, expression).map(([n, e]) => `${n} = ${e}`),
  fc.tuple(name, expression).map(([n, e]) => `${n}: int = ${e}`),
  expression,
  fc.constantFrom(
    "pass",
    "import math, os.path as p",
    "from a import (b,\n  c)",
    "x += 1",
    "x = 1; data = 2",
    "del x",
    "raise ValueError('x')",
    "return",
    "global z",
    "print(x)  # printed",
    "x = y = 0",
    "(x := 3)",
    "a, *b = data",
  ),
);

const comment = fc.constantFrom("", "# text", "   # indented otherwise", "\t", "  ");

/** Lines of a block at one depth. */
const block: (depth: number) => fc.Arbitrary<string[]> = (depth) =>
  fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: simple.map((text) => [text]) },
        { weight: 1, arbitrary: comment.map((text) => [text]) },
        ...(depth > 0 ? [{ weight: 3, arbitrary: compound(depth - 1) }] : []),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => [...parts.flat(), "pass"]);

function compound(depth: number): fc.Arbitrary<string[]> {
  const unit = fc.constantFrom("    ", "  ", "\t");
  const headers = fc.constantFrom(
    ["if x:", "elif data:", "else:"],
    ["for x in data:"],
    ["while x:", "else:"],
    ["with open(x) as f, data:"],
    ["try:", "except (ValueError,\n   KeyError) as e:", "else:", "finally:"],
    ["def inner(a, *, b: int = 1) -> None:"],
    ["@wraps\n@other(1)\nasync def inner():"],
    ["class C(object):"],
    ["match x:\n{unit}case [1, *_]:"],
    ["for x in [\n1,\n2]:  # why", "else:"],
  );
  return fc.tuple(headers, unit, fc.array(block(depth), { minLength: 4, maxLength: 4 })).map(([heads, step, bodies]) =>
    heads.flatMap((head, i) => {
      const isMatch = head.includes("{unit}");
      return [
        ...head.replace("{unit}", step).split("\n"),
        ...indented(bodies[i] as string[], isMatch ? step + step : step),
      ];
    }),
  );
}

/** Returns lines moved to the right; those within a string or brackets stay where they are. */
function indented(lines: readonly string[], step: string): string[] {
  return lines.map((text) => (text.trim() === "" ? text : step + text));
}

/** A module with statements around `def check(candidate):`. */
export const functionSource: fc.Arbitrary<string> = fc
  .tuple(
    block(1),
    block(2),
    block(0),
    fc.constantFrom("    ", "\t", "  "),
    fc.constantFrom(
      "def check(candidate):",
      "def check(candidate: object,\n  *given) -> None:  # tests",
      "@decorated\ndef check(candidate):",
    ),
  )
  .map(
    ([before, body, after, step, header]) =>
      `${[...before, "", header, ...indented(body, step), "", ...after].join("\n")}\n`,
  );
