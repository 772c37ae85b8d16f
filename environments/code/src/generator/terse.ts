import type { Sketch } from "./sketch.ts";

const NAMES = ["x", "y", "z"];

/** Renames a function to `f` of `x` and `y`: fewer characters for a small model. */
export function terseSketch(sketch: Sketch): Sketch {
  const renamed = (line: string): string =>
    sketch.parameters.reduce(
      (text, [name], i) => text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), NAMES[i] as string),
      line,
    );
  return {
    ...sketch,
    name: "f",
    parameters: sketch.parameters.map(([, type], i) => [NAMES[i] as string, type]),
    terse: renamed(sketch.terse),
    python: sketch.python.map(renamed),
    typescript: sketch.typescript.map(renamed),
  };
}
