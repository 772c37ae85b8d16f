import { describe } from "@jest/globals";
import { TOOL_FORMAT_NAMES } from "../../src/renderer.ts";
import { checkFormat } from "./check-format.ts";

describe.each(TOOL_FORMAT_NAMES)("%s", (name) => {
  checkFormat(name, { seed: 1, calls: 5, faults: 10, texts: 20, characters: 2 ** 16 });
});
