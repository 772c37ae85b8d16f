import type { RandomStream } from "@mrlm/kit";
import type { TypeName, Value } from "./values.ts";

/** Function to write: description, code in both languages, and oracle. */
export interface Sketch {
  /** Name in snake_case. */
  readonly name: string;
  readonly parameters: readonly (readonly [name: string, type: TypeName])[];
  readonly returns: TypeName;
  /** Description in whole sentences. */
  readonly prose: string;
  /** Description in few characters, for small models. */
  readonly terse: string;
  /** Lines of the body of the reference; inner blocks are indented by four spaces. */
  readonly python: readonly string[];
  readonly typescript: readonly string[];
  /** Oracle: returns the result, independent of both references. */
  solve(...given: readonly Value[]): Value;
  /** Functions that omit a part of the description. The tests must distinguish each of them from the whole function. */
  readonly lesser: readonly ((...given: readonly Value[]) => Value)[];
  /** Draws the arguments of a test. */
  draw(random: RandomStream): readonly Value[];
  /** Arguments that the tests always include. */
  readonly edges: readonly (readonly Value[])[];
}

/** Family of functions. Difficulty is from 1 (an expression) to 10. */
export interface Family {
  readonly name: string;
  generate(random: RandomStream, difficulty: number): Sketch;
}

/** Sketch with typed arguments. */
export interface TypedSketch<Given extends readonly Value[]> extends Omit<
  Sketch,
  "solve" | "lesser" | "draw" | "edges"
> {
  solve(...given: Given): Value;
  readonly lesser?: readonly ((...given: Given) => Value)[];
  draw(random: RandomStream): Given;
  readonly edges?: readonly Given[];
}

/** Removes the types of the arguments. */
export function sketch<Given extends readonly Value[]>(typed: TypedSketch<Given>): Sketch {
  return { edges: [], lesser: [], ...typed } as unknown as Sketch;
}
