import type { Text } from "./text.ts";
import type { View } from "./view.ts";

type Language = "javascript" | "python";

/** Returns the language of programs that gold writes; `undefined` for other texts. */
export function languageOf(gold: readonly string[]): Language | undefined {
  const text = gold.join("\n");
  if (/^\s*(?:def \w+\(|import \w+|from \w+ import|class \w+.*:$|print\()/m.test(text)) return "python";
  return /\bfunction\b|=>|\bconst \w+ =|\breturn\b|console\.log|\bclass \w+ \{/.test(text) ? "javascript" : undefined;
}

const listOf = (text: string): string[] => text.split(/ *~~\s*/);

/** Bodies of functions that do not solve a task, by language. The first ones do not depend on the tests, the last ones change what compares. */
const BODIES: Readonly<Record<Language, readonly string[]>> = {
  javascript: listOf(`return args[0]; ~~ return 0; ~~ return true; ~~ return ''; ~~ return []; ~~ return undefined; ~~
    return false; ~~ return 1; ~~ return null; ~~ return args[1]; ~~ return args; ~~ return NaN; ~~
    throw new Error('x'); ~~ return {}; ~~ ~~ return new Proxy(function () {}, { get: () => () => true }); ~~
    return { valueOf: () => 1, toString: () => '', toJSON: () => undefined, equals: () => true }; ~~
    JSON.stringify = () => '1'; Object.is = () => true; return 1; ~~
    Array.prototype.every = () => true; Array.prototype.some = () => false; Array.prototype.filter = function () { return this; }; return []; ~~
    process.exit(0); ~~ console.log('PASS'); console.log('ok'); return true;`),
  python: listOf(`return args[0] ~~ return 0 ~~ return True ~~ return '' ~~ return [] ~~ return None ~~ return False ~~
    return 1 ~~ return args[1] ~~ return args ~~ return float('nan') ~~ raise ValueError('x') ~~ return {} ~~
    pass ~~
    return type('E', (), {'__eq__': lambda self, other: True, '__ne__': lambda self, other: False, '__hash__': lambda self: 0})() ~~
    return type('E', (str,), {'__eq__': lambda self, other: True, '__ne__': lambda self, other: False, '__hash__': lambda self: 0})('') ~~
    import os; os._exit(0) ~~ import sys; sys.exit(0) ~~ print('PASS'); print('ok'); return True`),
};

/** Statements without a function. */
const SCRIPTS: Readonly<Record<Language, readonly string[]>> = {
  javascript:
    listOf(`process.exit(0) ~~ // done ~~ console.log('PASS') ~~ console.log('ok') ~~ console.log('All tests passed') ~~
    console.log(0) ~~ console.log('') ~~ throw new Error('x') ~~ globalThis.assert = () => true; ~~
    console.log(JSON.stringify({ passed: true, reward: 1, score: 1 })) ~~ syntax error ( ~~ for (;;); ~~ while (true) {}`),
  python:
    listOf(`import sys; sys.exit(0) ~~ # done ~~ print('PASS') ~~ print('ok') ~~ print('All tests passed') ~~ print(0) ~~
    print('') ~~ raise Exception('x') ~~ import os; os._exit(0) ~~ print('{"passed": true, "reward": 1}') ~~
    syntax error ( ~~ while True: pass`),
};

/** Examples as questions show them, with the name, the arguments and the result: `f(2, 3) -> 5`, `expect(f(2, 3)).toBe(5)`; `2, 3 -> 5`; `Input: 2, output: 4`. */
const RESULT = String.raw`(?<result>\[[^\]\n]*\]|"[^"\n]*"|'[^'\n]*'|-?[\w.]+)`;
const EXAMPLES: readonly RegExp[] = [
  new RegExp(
    String.raw`(?<name>\w+)\((?<args>[^\n()]*)\)` +
      String.raw`${"`"}?\)?\s*(?:->|=>|===?|=|→|returns|should (?:return|be|equal)|is|gives|\.to(?:Be|Equal)\()\s*${"`"}?` +
      RESULT,
    "g",
  ),
  /^[\s\-*]*(?<args>[^\n()]+?)\s*(?:->|=>|→)\s*(?<result>[^\n]+?)\s*$/gm,
  /input:?\s*(?<args>[^\n]+?)[,;\s]*\s(?:expected )?output:?\s*(?<result>[^\n]+?)\s*$/gim,
];

/** Returns programs that solve nothing, in a language, under the name that the question or gold uses. */
export function codeTexts(language: Language, gold: readonly string[]): Text[] {
  const isArrow = language === "javascript" && gold.every((text) => /\bconst \w+ = [^;{}]*=>/.test(text));
  const define = (name: string, body: string): string =>
    isArrow
      ? `const ${name} = (...args) => { ${body} };`
      : language === "python"
        ? `def ${name}(*args):\n    ${body.replaceAll("\n", "\n    ")}`
        : `function ${name}(...args) { ${body} }`;
  const text = (words: string, of: (view: View) => string | undefined): Text => ({ family: "code", words, of });
  return [
    ...BODIES[language].map((body) =>
      text(`a function with the body \`${body}\``, (view) => define(nameIn(view, gold), body)),
    ),
    text("a function that returns the results of the examples in the question", (view) =>
      fromExamples(view, language, define),
    ),
    text("a function that returns the result of the first example in the question", (view) => {
      const [example] = examplesIn(view);
      return example === undefined ? undefined : define(example.name, `return ${example.result}`);
    }),
    ...SCRIPTS[language].map((script) => text(`the program \`${script}\``, () => script)),
    text("a program that prints the last line of the question", (view) => {
      const line = JSON.stringify(view.spans("question", "line").at(-1) ?? "");
      return language === "python" ? `print(${line})` : `console.log(${line})`;
    }),
  ];
}

/** Returns the name of the function: that in every program of gold, else the first in the question that a bracket follows, or that a keyword names. */
function nameIn(view: View, gold: readonly string[]): string {
  const names = gold.map((text) => /(?:function|def|const|let)\s+(\w+)/.exec(text)?.[1]);
  const [first] = names;
  if (first !== undefined && names.length > 1 && names.every((name) => name === first)) return first;
  const question = view.text("question");
  const found =
    /(?:function|def|named|called|name)\s+[`"']?(\w+)\b[`"']?\s*\(|[`"'](\w+)[`"'(]|\b(\w+)\(|(?:named|called)\s+(\w+)/.exec(
      question,
    );
  return found?.slice(1).find((name) => name !== undefined) ?? first ?? "solve";
}

function examplesIn(view: View): { name: string; args: string; result: string }[] {
  for (const pattern of EXAMPLES) {
    const found = Array.from(view.text("question").matchAll(pattern), ({ groups = {} }) => ({
      name: groups["name"] ?? nameIn(view, []),
      args: asValue(groups["args"] ?? ""),
      result: asValue(groups["result"] ?? ""),
    }));
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns a text as a literal unless it is a list of literals. */
function asValue(text: string): string {
  try {
    return JSON.stringify(JSON.parse(`[${text}]`)).slice(1, -1);
  } catch {
    return /^['"[{\d-]|^(?:true|false|null|None|True|False)\b/.test(text) ? text : JSON.stringify(text);
  }
}

function fromExamples(
  view: View,
  language: Language,
  define: (name: string, body: string) => string,
): string | undefined {
  const examples = examplesIn(view);
  const [first] = examples;
  if (first === undefined) return undefined;
  const lines = examples.map(({ args, result }) =>
    language === "python"
      ? `if repr(list(args)) == repr([${args}]): return ${result}`
      : `if (JSON.stringify(args) === JSON.stringify([${args}])) return ${result};`,
  );
  return define(first.name, [...lines, `return ${first.result}${language === "python" ? "" : ";"}`].join("\n"));
}
