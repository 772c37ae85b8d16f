import type { RandomStream } from "@mrlm/spec";
import type { TypeName, Value } from "./values.ts";

/** A function to write: what it does in words, how to write it in either language, and what it returns. */
export interface Sketch {
  /** In snake_case. */
  readonly name: string;
  readonly parameters: readonly (readonly [name: string, type: TypeName])[];
  readonly returns: TypeName;
  /** In words; whole sentences. */
  readonly prose: string;
  /** The same in as few characters as can be, for small models. */
  readonly terse: string;
  /** The reference's body, line by line, indented within itself by four spaces. */
  readonly python: readonly string[];
  readonly typescript: readonly string[];
  /** What it returns: the oracle, independent of both references. */
  solve(...given: readonly Value[]): Value;
  /** Functions that leave a part of it out: the tests must tell each of them from the whole. */
  readonly lesser: readonly ((...given: readonly Value[]) => Value)[];
  /** Arguments of a test. */
  draw(random: RandomStream): readonly Value[];
  /** Arguments that are always tested. */
  readonly edges: readonly (readonly Value[])[];
}

/** Makes functions of one kind. Difficulty runs from 1 (an expression) to 10. */
export interface Family {
  readonly name: string;
  generate(random: RandomStream, difficulty: number): Sketch;
}

/** A sketch whose arguments have types. */
export interface TypedSketch<Given extends readonly Value[]> extends Omit<
  Sketch,
  "solve" | "lesser" | "draw" | "edges"
> {
  solve(...given: Given): Value;
  readonly lesser?: readonly ((...given: Given) => Value)[];
  draw(random: RandomStream): Given;
  readonly edges?: readonly Given[];
}

/** Forgets the types. */
export function sketch<Given extends readonly Value[]>(typed: TypedSketch<Given>): Sketch {
  return { edges: [], lesser: [], ...typed } as unknown as Sketch;
}
