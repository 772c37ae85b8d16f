import type { RandomStream } from "@mrlm/spec";
import type { Value } from "../values.ts";

/** One step of a chain: a value to the next, in words, in code and in fact. */
export interface Step<In extends Value = Value, Out extends Value = In> {
  /** An imperative: "keep the even numbers". */
  readonly prose: string;
  readonly terse: string;
  /** An expression of the step's result, given the name of its value. */
  python(name: string): string;
  typescript(name: string): string;
  apply(value: In): Out;
}

/** Draws a step with numbers of its own. */
export type StepMaker<In extends Value = Value, Out extends Value = In> = (random: RandomStream) => Step<In, Out>;

/** Steps that follow each other on one value. */
export interface Chain {
  readonly prose: string;
  readonly terse: string;
  readonly python: readonly string[];
  readonly typescript: readonly string[];
  apply(value: Value): Value;
  /** The same without one of the steps, for each of them that keeps the kind of value. */
  readonly shorter: readonly ((value: Value) => Value)[];
}

/** Draws `count` steps; no maker comes twice in a row, so that steps do not undo or repeat each other. */
export function drawSteps<T extends Value>(
  random: RandomStream,
  makers: readonly StepMaker<T>[],
  count: number,
): Step<T>[] {
  const steps: Step<T>[] = [];
  let last: StepMaker<T> | undefined;
  for (let i = 0; i < count; i++) {
    const maker = random.pick(makers.filter((each) => each !== last));
    steps.push(maker(random));
    last = maker;
  }
  return steps;
}

/** The code of a chain: one line for each step, the last one returned. */
// oxlint-disable-next-line typescript/no-explicit-any -- a step may change the type of the value
export function chain(name: string, steps: readonly Step<any, any>[]): Chain {
  const last = steps.at(-1) as Step;
  const before = steps.slice(0, -1);
  return {
    prose: steps.map((step) => step.prose).join(", then "),
    terse: steps.map((step) => step.terse).join(","),
    python: [...before.map((step) => `${name} = ${step.python(name)}`), `return ${last.python(name)}`],
    typescript: [...before.map((step) => `${name} = ${step.typescript(name)};`), `return ${last.typescript(name)};`],
    apply: (value) => applied(steps, value),
    shorter: before.map((_, i) => (value: Value) => applied(steps.toSpliced(i, 1), value)),
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- a step may change the type of the value
function applied(steps: readonly Step<any, any>[], value: Value): Value {
  return steps.reduce((current: Value, step) => step.apply(current), value);
}

/** The first letter in upper case. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
