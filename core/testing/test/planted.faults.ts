// npm run test:faults -- planted: environments with a planted hole, and sound ones, do what their folders state.
import { describe, expect, test } from "@jest/globals";
import {
  cheatPlayer,
  countTasks,
  demonstrationPlayer,
  earn,
  fixturePlayer,
  goldFixture,
  KINDS,
  loadPlanted,
  type Planted,
  plantedNames,
  type Player,
  playEpisode,
  randomPlayer,
  topReward,
} from "./support/planted.ts";

/** Tasks of the measurement. The cheats were written with tasks of the split `train` in view. */
const MEASURED = Array.from({ length: 100 }, (_, index) => `eval/${index}`);
const DEMONSTRATED = Array.from({ length: 20 }, (_, index) => `train/${index}`);
/** Tasks of what is compared with them: fewer, because these hardly differ between tasks. */
const COMPARED = MEASURED.slice(0, 30);
const CONSTANTS = ["", "0", "1", "a", "A or B", "none", "[]"];

const silent: Player = () => "";

/** Plays what an author states: fixtures, demonstrations, the number of tasks. Returns what the gold fixture earns over the measured tasks. */
async function goldMean(planted: Planted): Promise<number> {
  const { definition, host } = planted;
  expect(await countTasks(planted)).toBeGreaterThanOrEqual(200);
  for (const fixture of definition.fixtures ?? []) {
    const { name, task, seed, players = {}, reward } = fixture;
    const totals = await playEpisode(planted, {
      player: fixturePlayer(fixture),
      players,
      ...(task === undefined ? {} : { task }),
      ...(seed === undefined ? {} : { seed }),
    });
    for (const [agent, total] of Object.entries(totals ?? {})) {
      const wanted = typeof reward === "object" ? reward[agent] : reward;
      if (wanted !== undefined) expect({ name, total }).toEqual({ name, total: expect.closeTo(wanted, 9) });
    }
  }
  const top = topReward(planted);
  const gold = fixturePlayer(goldFixture(planted));
  for (const demonstration of await host.demonstrate({ id: definition.id }, DEMONSTRATED)) {
    const player = demonstrationPlayer(demonstration, gold);
    const totals = await playEpisode(planted, { task: demonstration.task, player });
    expect(totals?.[demonstration.agent]).toBeCloseTo(top, 9);
  }
  const { mean, topShare } = await earn(planted, COMPARED, () => gold);
  expect(topShare).toBe(1);
  return mean;
}

describe("a cheat earns without solving", () => {
  test.each(plantedNames("holes"))("%s", async (name) => {
    const planted = await loadPlanted("holes", name);
    const { cheat } = planted;
    if (cheat === undefined) throw new Error(`${name} has no cheat.js`);
    expect(KINDS).toContain(cheat.kind);
    expect(cheat.hole).toMatch(/^[A-Z].*\.$/);
    const gold = await goldMean(planted);
    const nothing = await earn(planted, COMPARED, () => silent);
    const random = await earn(planted, COMPARED, randomPlayer);
    const cheating = await earn(planted, MEASURED, () => cheatPlayer(cheat));
    const base = Math.max(nothing.mean, random.mean);
    const isHalfWay = gold > base && cheating.mean >= (base + gold) / 2;
    const isOftenTop = cheating.topShare >= 0.2;
    const isUnscored = cheating.unscoredShare >= 0.2 && nothing.unscoredShare === 0;
    if (process.env["PLANTED_FIGURES"] !== undefined) console.log(name, { gold, nothing, random, cheating });
    expect({ name, cheating, base, earns: isHalfWay || isOftenTop || isUnscored }).toMatchObject({ earns: true });
  });
});

describe("nothing and the same text for all tasks earn little", () => {
  test.each(plantedNames("sound"))("%s", async (name) => {
    const planted = await loadPlanted("sound", name);
    expect(planted.cheat).toBeUndefined();
    const gold = await goldMean(planted);
    const players: readonly ((index: number) => Player)[] = [
      ...CONSTANTS.map((text) => () => () => text),
      ...(await shownAnswers(planted)).map((text) => () => () => text),
      randomPlayer,
    ];
    for (const player of players) {
      const { mean, topShare, unscoredShare } = await earn(planted, COMPARED, player);
      expect({ name, wrote: String(player(0)), mean, topShare, unscoredShare }).toMatchObject({ unscoredShare: 0 });
      expect(mean).toBeLessThan(gold / 2);
      expect(topShare).toBeLessThan(0.2);
    }
  });
});

/** Returns what the gold fixture writes first in three tasks: right answers, each right for few tasks. */
async function shownAnswers(planted: Planted): Promise<readonly string[]> {
  const answers: string[] = [];
  const gold = fixturePlayer(goldFixture(planted));
  for (const task of ["train/0", "train/1", "train/2"]) {
    let first: string | undefined;
    await playEpisode(planted, {
      task,
      player: (turn) => {
        const text = gold(turn);
        if (typeof text === "string") first ??= text;
        return text;
      },
    });
    if (first !== undefined) answers.push(first);
  }
  return answers;
}
