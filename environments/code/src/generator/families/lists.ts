import { type Family, sketch } from "../sketch.ts";
import { drawIntegers, type Integers, listEnds, listSteps } from "../steps/int-lists.ts";
import { chain, drawSteps, sentence, type Step } from "../steps/step.ts";

/** A list of integers filtered, changed and reduced in steps. */
export const lists: Family = {
  name: "lists",
  generate(random, difficulty) {
    const ends: readonly Step<Integers, number>[] = random.next() < 0.5 ? [random.pick(listEnds)] : [];
    const { prose, terse, python, typescript, apply, shorter } = chain("numbers", [
      ...drawSteps(random, listSteps, Math.ceil(difficulty / 2)),
      ...ends,
    ]);
    return sketch<[Integers]>({
      name: ends.length > 0 ? "reduce_numbers" : "rework_numbers",
      parameters: [["numbers", "ints"]],
      returns: ends.length > 0 ? "int" : "ints",
      prose: `The numbers are integers of at least 0. ${sentence(prose)}. Return the result.`,
      terse,
      python,
      typescript,
      solve: apply,
      lesser: shorter,
      draw: (stream) => [drawIntegers(stream)],
      edges: [[[]], [[0]]],
    });
  },
};
