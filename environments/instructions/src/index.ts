import { definePlugin, singleTurn } from "@mrlm/kit";
import { fixtures } from "./fixtures.ts";
import { grade } from "./grade.ts";
import { instructionsOptions } from "./options.ts";
import { questionOf } from "./prompt.ts";
import { writeAnswer } from "./task.ts";
import { instructionTasks } from "./tasks.ts";

/** `instructions@1`: answers whose content and form are checked exactly. */
const instructions = singleTurn({
  id: "instructions@1",
  description: "Select items and write about them as instructions or a JSON Schema demand.",
  options: instructionsOptions,
  rewardComponents: ["correct", "content", "instructions"],
  tasks: (_context, options) => instructionTasks(options),
  prompt: (shown, { style }) => questionOf(shown, style),
  answer: ({ public: shown }) => writeAnswer(shown),
  score: (text, { public: shown }, { options: { style } }) => grade(text.trim(), shown, questionOf(shown, style)),
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-instructions", environments: [instructions] });
