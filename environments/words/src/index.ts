import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { demonstrate, WordsEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { wordsOptions } from "./options.ts";
import { wordsTasks } from "./tasks.ts";

/** `words@1`: a hidden word is found by guesses, letters or questions. */
const words = defineEnvironment({
  id: "words@1",
  description: "Text games in which a hidden word is found by guesses, letters or questions.",
  determinism: "full",
  options: wordsOptions,
  rewardComponents: ["solved", "progress"],
  tasks: (_context, options) => wordsTasks(options),
  create: (context, options) => new WordsEnvironment(context, options),
  demonstrate,
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-words", environments: [words] });
