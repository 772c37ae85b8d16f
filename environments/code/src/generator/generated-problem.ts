import type { RandomStream } from "@mrlm/kit";
import type { FunctionTest, Language, ProblemTask } from "../problem/problem.ts";
import { type Visibility, withVisibility } from "../problem/visibility.ts";
import { type Case, drawCases } from "./cases.ts";
import type { Family, Sketch } from "./sketch.ts";
import { bareStub, stubFor, WRITERS } from "./write.ts";

/** Number of cases that the problem shows. */
const EXAMPLES = 3;

/** Input of the generator. */
export interface ProblemRequest {
  readonly family: Family;
  readonly difficulty: number;
  readonly language: Language;
  readonly style: "prose" | "terse";
  readonly tests: number;
  readonly visibility: Visibility;
}

/** Problem with reference and tests. `key`, the terse question, identifies it in all languages and styles. */
export interface GeneratedProblem extends ProblemTask {
  readonly key: string;
}

/** Draws functions of a family until one has sufficient test cases. */
export function generatedProblem(random: RandomStream, request: ProblemRequest): GeneratedProblem {
  for (;;) {
    const sketch = request.family.generate(random, request.difficulty);
    const cases = drawCases(sketch, random, request.tests, EXAMPLES);
    if (cases === undefined) continue;
    const terse = terseSketch(sketch);
    return {
      ...written(request.style === "terse" ? terse : sketch, cases, request),
      key: terseQuestion(terse),
    };
  }
}

function terseQuestion({ name, parameters, terse }: Sketch): string {
  return `${name}(${parameters.map(([parameter]) => parameter).join(",")}):${terse}`;
}

function written(
  sketch: Sketch,
  cases: readonly Case[],
  { family, difficulty, language, style, visibility }: ProblemRequest,
): ProblemTask {
  const writer = WRITERS[language];
  const entryPoint = writer.functionName(sketch.name);
  const call = ({ given }: Case): string => `${entryPoint}(${given.map(writer.literal).join(", ")})`;
  const examples =
    visibility === "examples"
      ? cases.slice(0, EXAMPLES).map((one) => [call(one), writer.literal(one.result)] as const)
      : [];
  const stub =
    style === "terse" ? bareStub(sketch, language, entryPoint) : stubFor(sketch, language, entryPoint, examples);
  const tests = cases.map((one, i): FunctionTest => {
    const result = writer.literal(one.result);
    return {
      shown: `${call(one)} should be ${result}`,
      code: TESTS[language](call(one), result),
      visible: i < EXAMPLES,
      counted: true,
    };
  });
  const body = writer
    .body(sketch)
    .map((line) => `    ${line}\n`)
    .join("");
  const question = style === "terse" ? terseQuestion(sketch) : stub.head;
  return {
    public: { question, family: family.name, difficulty, entry_point: entryPoint },
    problem: {
      kind: "function",
      language,
      entryPoint,
      stub,
      reference: stub.head + body + stub.tail,
      harness: HARNESSES[language],
      tests: withVisibility(tests, visibility),
    },
  };
}

/** Returns the code of a test. Its message contains the result of the submission only if the test is visible. */
const TESTS: Readonly<Record<Language, (call: string, result: string) => string>> = {
  python: (call, result) => `_returned = ${call}\nassert _returned == ${result}, "it returned " + repr(_returned)`,
  typescript: (call, result) => `check(await ${call}, ${result});`,
};

const HARNESSES: Readonly<Record<Language, string>> = {
  python: "",
  // Results are plain data of the checker: no code of the submission runs in this comparison. 0 equals -0.
  typescript: [
    "function same(one, other) {",
    "  if (one === other) return true;",
    `  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;`,
    "  if (Array.isArray(one) !== Array.isArray(other)) return false;",
    "  const keys = Object.keys(other);",
    "  return Object.keys(one).length === keys.length && keys.every((key) => Object.hasOwn(one, key) && same(one[key], other[key]));",
    "}",
    "function check(returned, expected) {",
    `  if (!same(returned, expected)) throw new Error("it returned " + JSON.stringify(returned));`,
    "}",
  ].join("\n"),
};

const NAMES = ["x", "y", "z"];

/** Renames a function to `f` of `x` and `y`: fewer characters for a small model. In the description a longer name is a word, such as `text`, and stays. */
export function terseSketch(sketch: Sketch): Sketch {
  const renamed = (line: string, longest = Infinity): string =>
    sketch.parameters.reduce(
      (text, [name], i) =>
        name.length > longest ? text : text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), NAMES[i] as string),
      line,
    );
  return {
    ...sketch,
    name: "f",
    parameters: sketch.parameters.map(([, type], i) => [NAMES[i] as string, type]),
    terse: renamed(sketch.terse, 1),
    python: sketch.python.map((line) => renamed(line)),
    typescript: sketch.typescript.map((line) => renamed(line)),
  };
}
