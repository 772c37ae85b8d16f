import { expect, test } from "@jest/globals";
import {
  BROKEN,
  BROKEN_PROVIDERS,
  findingsOf,
  findingsWithProvider,
  SOUND,
  SOUND_FOLDER,
  statedDefect,
} from "./support/broken-plugins.ts";

test.each(BROKEN)("the check of %s reports its defect and nothing else", async (name) => {
  const { expects, message: part = "" } = statedDefect(name);
  expect((await findingsOf(name)).map(({ code, message }) => ({ code, message }))).toEqual([
    { code: expects, message: expect.stringContaining(part) },
  ]);
});

test.each(SOUND)("the check of the sound plugin %s reports nothing", async (name) => {
  expect(await findingsOf(name, {}, SOUND_FOLDER)).toEqual([]);
});

test.each(Object.entries(BROKEN_PROVIDERS))("a required plugin that does `%s` is named", async (code, text) => {
  expect(await findingsWithProvider(code)).toMatchObject([
    { code: "REQUIREMENT_MISSING", subject: "package", message: expect.stringContaining(text) },
  ]);
});
