import type { Sketch } from "./sketch.ts";

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
