import type { RandomStream } from "@mrlm/kit";
import { type Family, type Sketch, sketch } from "../sketch.ts";
import { WORDS } from "../steps/word-bank.ts";

/** Makes a problem: `name:3;other:5` to totals. */
function settings(random: RandomStream, difficulty: number): Sketch {
  const [pair, item] = random.shuffle([":", "=", ";", ",", "|", "/"]) as [string, string];
  const factor = random.integer(1, 6);
  const least = difficulty >= 4 ? random.integer(5, 40) : 0;
  const parse = (text: string): (readonly [string, number])[] =>
    text
      .split(item)
      .filter(Boolean)
      .map((part) => [part.split(pair)[0] as string, Number(part.split(pair)[1])]);
  return sketch<[string]>({
    name: "read_settings",
    parameters: [["text", "str"]],
    returns: "counts",
    prose: `The text holds items separated by "${item}", each a name and an integer with "${pair}" between them; it may be empty. Return a dictionary from each name to ${factor === 1 ? "the sum" : `${factor} times the sum`} of its integers${least > 0 ? `, without names whose integers add up to less than ${least}` : ""}.`,
    terse: `items ${item} pair ${pair},*${factor}${least > 0 ? `,>=${least}` : ""}`,
    python: [
      "totals = {}",
      `for part in text.split("${item}") if text else []:`,
      `    name, number = part.split("${pair}")`,
      "    totals[name] = totals.get(name, 0) + int(number)",
      `return {name: ${factor} * total for name, total in totals.items()${least > 0 ? ` if total >= ${least}` : ""}}`,
    ],
    typescript: [
      "const totals: Record<string, number> = {};",
      `for (const part of text ? text.split("${item}") : []) {`,
      `    const [name, number] = part.split("${pair}");`,
      "    totals[name] = (totals[name] ?? 0) + Number(number);",
      "}",
      `return Object.fromEntries(Object.entries(totals)${least > 0 ? `.filter(([, total]) => total >= ${least})` : ""}.map(([name, total]) => [name, ${factor} * total]));`,
    ],
    solve(text) {
      const pairs = parse(text);
      const totals = [...new Set(pairs.map(([name]) => name))].map(
        (name) => [name, pairs.filter(([other]) => other === name).reduce((sum, [, n]) => sum + n, 0)] as const,
      );
      return Object.fromEntries(
        totals.filter(([, total]) => total >= least).map(([name, total]) => [name, factor * total]),
      );
    },
    draw(stream) {
      const names = stream.shuffle(WORDS).slice(0, 4);
      return [
        Array.from({ length: stream.integer(1, 6) }, () => `${stream.pick(names)}${pair}${stream.integer(0, 40)}`).join(
          item,
        ),
      ];
    },
    edges: [[""]],
  });
}

/** Makes a problem: `a3b2` to `aaabb`, with a bonus on each count. */
function runs(random: RandomStream): Sketch {
  const [bonus, most] = [random.integer(0, 3), random.integer(4, 12)];
  const plus = bonus === 0 ? "" : ` + ${bonus}`;
  const length = (digits: string): number => Math.min(Number(digits) + bonus, most);
  return sketch<[string]>({
    name: "unpack",
    parameters: [["text", "str"]],
    returns: "str",
    prose: `The text is a sequence of letters, each followed by an integer of one or more digits. Write each letter as often as its integer${bonus > 0 ? ` plus ${bonus}` : ""} says, but no more than ${most} times in one go. Return the result.`, // words: quoted
    terse: `unpack +${bonus} max ${most}`,
    python: [
      "import re",
      `return "".join(letter * min(int(count)${plus}, ${most}) for letter, count in re.findall(r"([a-z])(\\d+)", text))`,
    ],
    typescript: [
      `return text.replace(/([a-z])(\\d+)/g, (_, letter, count) => letter.repeat(Math.min(Number(count)${plus}, ${most})));`,
    ],
    solve(text) {
      let result = "";
      for (let i = 0; i < text.length;) {
        let end = i + 1;
        while (end < text.length && (text[end] as string) <= "9") end++;
        result += (text[i] as string).repeat(length(text.slice(i + 1, end)));
        i = end;
      }
      return result;
    },
    draw: (stream) => [
      Array.from(
        { length: stream.integer(1, 6) },
        () => `${stream.pick([..."abcdefgh"])}${stream.integer(0, 14)}`,
      ).join(""),
    ],
    edges: [[""], ["a0"]],
  });
}

/** Makes a problem: arithmetic from left to right with named operators. */
function leftToRight(random: RandomStream, difficulty: number): Sketch {
  const [plus, minus, times] = random.shuffle([..."+-*x@#&!"]) as [string, string, string];
  const start = random.integer(0, 9);
  const modulus = difficulty >= 6 ? random.integer(50, 500) : 1_000;
  const apply: Record<string, (a: number, b: number) => number> = {
    [plus]: (a, b) => a + b,
    [minus]: (a, b) => Math.abs(a - b),
    [times]: (a, b) => a * b,
  };
  return sketch<[string]>({
    name: "calculate",
    parameters: [["text", "str"]],
    returns: "int",
    prose: `The text holds words separated by single spaces, each an operator followed by an integer. Begin with ${start} and go from left to right: "${plus}" adds the integer, "${minus}" replaces the value by its distance from the integer, "${times}" multiplies by it. After each word take the remainder of the value when divided by ${modulus}. Return the final value. The text may be empty.`,
    terse: `calc ${start},${plus}add ${minus}dist ${times}mul,%${modulus}`,
    python: [
      `value = ${start}`,
      "for word in text.split():",
      "    operator, number = word[0], int(word[1:])",
      `    if operator == "${plus}":`,
      "        value += number",
      `    elif operator == "${minus}":`,
      "        value = abs(value - number)",
      "    else:",
      "        value *= number",
      `    value %= ${modulus}`,
      "return value",
    ],
    typescript: [
      `let value = ${start};`,
      `for (const word of text.split(" ").filter(Boolean)) {`,
      "    const number = Number(word.slice(1));",
      `    if (word[0] === "${plus}") value += number;`,
      `    else if (word[0] === "${minus}") value = Math.abs(value - number);`,
      "    else value *= number;",
      `    value %= ${modulus};`,
      "}",
      "return value;",
    ],
    solve: (text) =>
      text
        .split(" ")
        .filter(Boolean)
        .reduce(
          (value, word) =>
            (apply[word.charAt(0)] as (a: number, b: number) => number)(value, Number(word.slice(1))) % modulus,
          start,
        ),
    draw: (stream) => [
      Array.from(
        { length: stream.integer(1, 6) },
        () => `${stream.pick([plus, minus, times])}${stream.integer(0, 20)}`,
      ).join(" "),
    ],
    edges: [[""]],
  });
}

/** Scores brackets by their depth. */
function brackets(random: RandomStream): Sketch {
  const [open, close] = random.pick([
    ["(", ")"],
    ["[", "]"],
    ["{", "}"],
    ["<", ">"],
  ]);
  const [weight, failure] = [random.integer(1, 9), -random.integer(1, 9)];
  return sketch<[string]>({
    name: "score_brackets",
    parameters: [["text", "str"]],
    returns: "int",
    prose: `Every "${open}" in the text opens a level and every "${close}" closes one. Return ${failure} if the levels are not balanced. Otherwise return the number of characters that are no brackets, each counted as often as levels are open around it, plus ${weight} times the deepest level.`,
    terse: `${open}${close} depth sum,${weight}*deepest,else ${failure}`,
    python: [
      "depth = deepest = total = 0",
      "for c in text:",
      `    if c == "${open}":`,
      "        depth += 1",
      "        deepest = max(deepest, depth)",
      `    elif c == "${close}":`,
      "        depth -= 1",
      "        if depth < 0:",
      `            return ${failure}`,
      "    else:",
      "        total += depth",
      `return total + ${weight} * deepest if depth == 0 else ${failure}`,
    ],
    typescript: [
      "let [depth, deepest, total] = [0, 0, 0];",
      "for (const c of text) {",
      `    if (c === "${open}") deepest = Math.max(deepest, ++depth);`,
      `    else if (c !== "${close}") total += depth;`,
      `    else if (--depth < 0) return ${failure};`,
      "}",
      `return depth === 0 ? total + ${weight} * deepest : ${failure};`,
    ],
    solve(text) {
      const depths = [...text].map((_, i) =>
        [...text.slice(0, i + 1)].reduce((depth, c) => depth + Number(c === open) - Number(c === close), 0),
      );
      if (depths.some((depth) => depth < 0) || (depths.at(-1) ?? 0) !== 0) return failure;
      return (
        depths.reduce((sum, depth, i) => sum + (text[i] === open || text[i] === close ? 0 : depth), 0) +
        weight * Math.max(0, ...depths)
      );
    },
    draw: (stream) => [
      stream.next() < 0.25
        ? Array.from({ length: stream.integer(1, 8) }, () => stream.pick([open, close, "a"])).join("")
        : balanced(stream, open as string, close as string, 3),
    ],
    edges: [[""], [close as string], [open as string]],
  });
}

function balanced(random: RandomStream, open: string, close: string, depth: number): string {
  return Array.from({ length: random.integer(1, 3) }, () =>
    depth > 0 && random.next() < 0.6
      ? open + balanced(random, open, close, depth - 1) + close
      : random.pick(["a", "bc", "x"]),
  ).join("");
}

/** Texts with a given structure. */
export const parsing: Family = {
  name: "parsing",
  generate: (random, difficulty) =>
    random.pick(
      difficulty < 3
        ? [settings, runs]
        : difficulty < 5
          ? [settings, runs, leftToRight]
          : [settings, leftToRight, brackets],
    )(random, difficulty),
};
