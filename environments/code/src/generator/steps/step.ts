import type { RandomStream } from "@mrlm/kit";
import type { Value } from "../values.ts";

/** Step of a chain from one value to the next: description, code and function. */
export interface Step<In extends Value = Value, Out extends Value = In> {
  /** Imperative sentence: "keep the even numbers". */
  readonly prose: string;
  readonly terse: string;
  /** Returns the expression of the result, given the name of the input. */
  python(name: string): string;
  typescript(name: string): string;
  apply(value: In): Out;
}

/** Draws a step with random numbers. */
export type StepMaker<In extends Value = Value, Out extends Value = In> = (random: RandomStream) => Step<In, Out>;

/** Sequence of steps on one value. */
export interface Chain {
  readonly prose: string;
  readonly terse: string;
  readonly python: readonly string[];
  readonly typescript: readonly string[];
  apply(value: Value): Value;
  /** Variants that each omit one of the steps that keep the type of the value. */
  readonly shorter: readonly ((value: Value) => Value)[];
}

/** Draws `count` steps, never two of one maker in sequence, so that steps do not revert or repeat each other. */
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

/** Writes the code of a chain: one line for each step; the last one returns. */
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

/** Changes the first letter to upper case. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
