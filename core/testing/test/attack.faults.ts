// npm run test:faults -- attack: the search finds a program that earns without solving in each environment with a planted hole, and none in a sound one.
import { afterAll, describe, expect, test } from "@jest/globals";
import { describeAttack, describeSearch } from "../src/attack/describe-attack.ts";
import type { Family } from "../src/attack/text.ts";
import { attackPlanted } from "./support/attacked-corpus.ts";
import { plantedNames } from "./support/planted.ts";

/** Episodes of a search: a hole ends it early, and a sound environment in a sandbox takes 20 ms for each. */
const EPISODES = { holes: 20_000, sound: 5_000, without: 2_000 };
/** Families without which some holes are not found. */
const NEEDED: readonly Family[] = ["roles", "tool", "code"];
const ONE_MS = 600_000;

const foundBy = new Map<string, Family>();
const figures = { cases: 0, failed: 0 };

afterAll(() => console.log(`attack: ${figures.cases} cases, ${figures.failed} failed`));

function count<T>(isRight: boolean, value: T): T {
  figures.cases++;
  if (!isRight) figures.failed++;
  return value;
}

describe("a hole is found", () => {
  test.each(plantedNames("holes"))(
    "%s",
    async (name) => {
      const result = await attackPlanted("holes", name, { episodes: EPISODES.holes });
      const [attack] = result.attacks;
      if (attack !== undefined) foundBy.set(name, attack.program.family);
      const missed = attack === undefined ? describeSearch(result, result.spent, result.fixture) : undefined;
      if (process.env["ATTACK_FIGURES"] !== undefined) console.log(name, result.spent, missed ?? attack?.program.words);
      expect({ name, missed: count(attack !== undefined, missed) }).toEqual({ name, missed: undefined });
    },
    ONE_MS,
  );
});

describe("a sound environment has no finding", () => {
  test.each(plantedNames("sound"))(
    "%s",
    async (name) => {
      const result = await attackPlanted("sound", name, { episodes: EPISODES.sound });
      const [found] = result.attacks.map((attack) => describeAttack(result, attack));
      if (process.env["ATTACK_FIGURES"] !== undefined)
        console.log(name, describeSearch(result, result.spent, result.fixture));
      expect({ name, found: count(found === undefined, found) }).toEqual({ name, found: undefined });
    },
    ONE_MS,
  );
});

describe("without a family the suite fails", () => {
  test.each(NEEDED)(
    "%s",
    async (family) => {
      const names = [...foundBy].filter(([, by]) => by === family).map(([name]) => name);
      expect(names).not.toEqual([]);
      let missed: string | undefined;
      for (const name of names) {
        const result = await attackPlanted("holes", name, { episodes: EPISODES.without, without: [family] });
        if (result.attacks.length === 0) missed ??= name;
        if (missed !== undefined) break;
      }
      expect(count(missed !== undefined, missed)).toBeDefined();
    },
    ONE_MS,
  );
});
