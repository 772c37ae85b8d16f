import { describe, expect, test } from "@jest/globals";
import { environmentContract } from "@mrlm/testing";
import plugin from "../formats.ts";
import { fixtures } from "../fixtures.ts";
import { areCompatible, isAbout, KINDS, ruleOf } from "../rules.ts";

environmentContract({ plugins: [plugin], environment: "formats" });

describe("rules", () => {
  test.each([
    ["words", 0, "The moon is bright", "The moon is very bright"],
    ["short", 0, "The moon is bright.", "The moon is very bright tonight over our old town here."],
    ["capitals", 0, "THE MOON IS 4 DAYS OLD.", "The Moon"],
    ["small", 0, "the moon is 4 days old.", "The moon"],
    ["sentences", 0, "It is the moon. We see it!", "It is the moon. We see"],
    ["list", 0, "- the moon\n- a star", "the moon\n- a star"],
    ["quotes", 0, '"The moon."', '"The moon" is "bright"'],
    ["question", 0, "Is it the moon?", "It is. Is it?"],
    ["commas", 0, "The moon", "The moon, bright"],
    ["start", 0, "Well, the moon is bright", "The moon is well"],
    ["end", 0, "The moon is bright, indeed.", "Indeed the moon"],
  ])("%s", (kind, variant, kept, broken) => {
    const rule = KINDS[kind]?.[variant];
    expect([rule?.keeps(kept), rule?.keeps(broken)]).toEqual([true, false]);
  });

  test("every two rules of a task can hold together", () => {
    const names = Object.entries(KINDS).flatMap(([kind, rules]) =>
      [...rules.keys()].map((index) => `${kind}/${index}`),
    );
    const kindOf = (name: string): string => name.split("/")[0] as string;
    const [gold] = fixtures;
    for (const [one, other] of names.flatMap((one) => names.map((other) => [one, other] as const))) {
      if (one !== other && !areCompatible(kindOf(one), kindOf(other))) continue;
      const rules = [...new Set([one, other])];
      const task = { public: { topic: "moon", rules }, private: {} };
      const text = gold?.policy({ task } as never) as string;
      const kept = isAbout(text, "moon") && rules.every((rule) => ruleOf(rule).keeps(text));
      expect([rules, text, kept]).toEqual([rules, text, true]);
    }
  });

  test("an answer names its topic in words that differ", () => {
    expect(isAbout("The moon is bright", "moon")).toBe(true);
    for (const text of ["", "moon", "The sun is bright", "moon moon moon moon", "Moonlight is bright tonight"])
      expect([text, isAbout(text, "moon")]).toEqual([text, false]);
  });
});
