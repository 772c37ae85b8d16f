import { type Family, sketch } from "../sketch.ts";
import { chain, drawSteps, sentence } from "../steps/step.ts";
import { drawText, textSteps } from "../steps/texts.ts";

/** A text rewritten in steps. */
export const strings: Family = {
  name: "strings",
  generate(random, difficulty) {
    const { prose, terse, python, typescript, apply, shorter } = chain(
      "text",
      drawSteps(random, textSteps, Math.ceil(difficulty / 2)),
    );
    return sketch<[string]>({
      name: "rewrite",
      parameters: [["text", "str"]],
      returns: "str",
      prose: `Rewrite the text. ${sentence(prose)}. Return the result.`,
      terse: `text,${terse}`,
      python,
      typescript,
      solve: apply,
      lesser: shorter,
      draw: (stream) => [drawText(stream)],
      edges: [[""], ["a"]],
    });
  },
};
