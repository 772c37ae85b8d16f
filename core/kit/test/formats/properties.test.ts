import { describe } from "@jest/globals";
import { TOOL_FORMAT_NAMES } from "../../src/renderer.ts";
import { checkFormat } from "./check-format.ts";
import { IN_TURN, modelOf } from "./models.ts";

describe.each(TOOL_FORMAT_NAMES)("%s", (name) => {
  checkFormat(name, { seed: 1, calls: 5, faults: 10, texts: 20, characters: 2 ** 16 });

  describe.each(TOOL_FORMAT_NAMES)("%s by the prompt, with a template of users and answers in turn", (name) => {
    checkFormat(
      name,
      { seed: 1, calls: 5, faults: 5, texts: 5, characters: 2 ** 12 },
      modelOf(name, IN_TURN, [], true),
    );
  });
});
