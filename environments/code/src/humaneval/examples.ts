import { closing } from "../problem/calls.ts";

/** Example of a docstring: a call, or an expression with one, and its value. */
export interface Example {
  readonly call: string;
  readonly expected: string;
}

const ARROWS = /^\s*(?:#\s*)?(?:==?>|==|->|➞|→|=|should return|returns?|evaluates to|is)\s*/i;

/**
 * Returns the examples in a prompt: those in the form of doctest, and lines such as `add(1, 2) == 3` or `add(1, 2) ➞ 3`. Prose is ambiguous: use an example
 * only if the reference solution agrees with it.
 */
export function examplesOf(prompt: string, entryPoint: string): Example[] {
  const lines = prompt.split("\n").map((line) => line.trim());
  const examples: Example[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    if (line.startsWith(">>>")) {
      let call = withoutComment(line.slice(3));
      while (lines[i + 1]?.startsWith("...")) call += ` ${withoutComment((lines[++i] as string).slice(3))}`;
      const expected: string[] = [];
      while (lines[i + 1] !== undefined && lines[i + 1] !== "" && !/^(>>>|"""|''')/.test(lines[i + 1] as string))
        expected.push(lines[++i] as string);
      if (call.includes(`${entryPoint}(`) && expected.length > 0)
        examples.push({ call: call.trim(), expected: expected.join(" ") });
      continue;
    }
    const example = inline(line, entryPoint);
    if (example !== undefined) examples.push(example);
  }
  return examples.filter(
    ({ call, expected }, i) => examples.findIndex((other) => other.call === call && other.expected === expected) === i,
  );
}

/** `For add(1, 2) the result should be...` is not one: the call comes first and its value follows an arrow. */
function inline(line: string, entryPoint: string): Example | undefined {
  const at = line.indexOf(`${entryPoint}(`);
  if (at < 0 || /^(?:async\s+)?def\s/.test(line) || /[\w.]/.test(line[at - 1] ?? " ")) return undefined;
  const end = closing(line, at + entryPoint.length);
  if (end === undefined) return undefined;
  const rest = line.slice(end);
  const arrow = ARROWS.exec(rest)?.[0];
  if (arrow === undefined || arrow === rest) return undefined;
  // `1 + 9 = 10` ends in the value.
  const expected = withoutComment(rest.slice(arrow.length))
    .replace(/(?<=\S)[.;]$/, "")
    .replace(/^[\d\s()+*/-]+ = /, "")
    .trim();
  return expected === "" ? undefined : { call: line.slice(at, end), expected };
}

function withoutComment(text: string): string {
  return text.replace(/\s+#(?:[^'"]*)$/, "");
}
