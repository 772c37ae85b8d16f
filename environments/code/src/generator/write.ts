import type { Language, Stub } from "../problem/problem.ts";
import type { Sketch } from "./sketch.ts";
import { pythonLiteral, TYPES, typescriptLiteral, type Value } from "./values.ts";

/** Writer of sketches in one language. */
interface Writer {
  functionName(name: string): string;
  literal(value: Value): string;
  head(sketch: Sketch, name: string, documentation: readonly string[]): string;
  readonly tail: string;
  body(sketch: Sketch): readonly string[];
}

const WIDTH = 88;

/** Writers by language. */
export const WRITERS: Readonly<Record<Language, Writer>> = {
  python: {
    functionName: (name) => name,
    literal: pythonLiteral,
    head: ({ parameters, returns }, name, documentation) =>
      [
        `def ${name}(${parameters.map(([parameter, type]) => `${parameter}: ${TYPES[type].python}`).join(", ")}) -> ${TYPES[returns].python}:`,
        ...(documentation.length > 0
          ? [`    """${documentation[0]}`, ...documentation.slice(1).map((line) => `    ${line}`.trimEnd()), `    """`]
          : []),
        "",
      ].join("\n"),
    tail: "",
    body: ({ python }) => python,
  },
  typescript: {
    functionName: (name) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    literal: typescriptLiteral,
    head: ({ parameters, returns }, name, documentation) =>
      [
        ...(documentation.length > 0 ? ["/**", ...documentation.map((line) => ` * ${line}`.trimEnd()), " */"] : []),
        `function ${name}(${parameters.map(([parameter, type]) => `${parameter}: ${TYPES[type].typescript}`).join(", ")}): ${TYPES[returns].typescript} {`,
        "",
      ].join("\n"),
    tail: "}\n",
    body: ({ typescript }) => typescript,
  },
};

/** Returns the code around the body of the function, with documentation and examples. */
export function stubFor(
  sketch: Sketch,
  language: Language,
  name: string,
  examples: readonly (readonly [call: string, result: string])[],
): Stub {
  const shown = examples.flatMap(([call, result]) =>
    language === "python" ? [`>>> ${call}`, result] : [`${call} // ${result}`],
  );
  return {
    preamble: "",
    head: WRITERS[language].head(sketch, name, [...wrapped(sketch.prose), "", ...shown]),
    tail: WRITERS[language].tail,
  };
}

/** Returns the code around the body without documentation, for the terse style. */
export function bareStub(sketch: Sketch, language: Language, name: string): Stub {
  return { preamble: "", head: WRITERS[language].head(sketch, name, []), tail: WRITERS[language].tail };
}

function wrapped(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) as string;
    if (line !== "" && line.length + word.length >= WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
