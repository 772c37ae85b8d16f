import type { Reward } from "@mrlm/kit";

/** Codes of a request that a shorter one may replace: a replay has no recording of a request that was too long. */
const TOO_LONG: readonly string[] = ["ENDPOINT_CONTEXT_TOO_LONG", "ENDPOINT_RECORDING_MISSING"];
/** Fewest characters: a model that cannot read so many is no judge, whatever an agent writes. */
const MIN_CHARACTERS = 1_000;

/** Grades, and again with half of the characters where the endpoint's model cannot read so many: no agent is without a grade because it wrote much. */
export async function shorten<T>(
  characters: number,
  grade: (characters: number) => Promise<T>,
  rewardsOf: (graded: T) => readonly Reward[],
): Promise<T> {
  const graded = await grade(characters);
  const isTooLong = rewardsOf(graded).some((reward) => !reward.scored && TOO_LONG.includes(reward.code));
  return isTooLong && characters > MIN_CHARACTERS
    ? await shorten(Math.floor(characters / 2), grade, rewardsOf)
    : graded;
}
