import type { RandomStream } from "@mrlm/kit";

/** Largest number of objects at the beginning. */
export const LARGEST_PILE = 21;

/** Largest number of objects that a turn takes. */
export const LARGEST_TAKE = 3;

/** Returns the move of a message: its one number. `undefined` if there is none, several, or one that the rules do not allow. */
export function moveOf(text: string, pile: number): number | undefined {
  const [digits, ...others] = text.match(/\d+/g) ?? [];
  const take = Number(digits);
  return others.length === 0 && take >= 1 && take <= Math.min(LARGEST_TAKE, pile) ? take : undefined;
}

/** Whether the agent on turn wins if it plays well. It loses at multiples of 4: each of its moves can be answered to the next multiple of 4. */
export function isWon(pile: number): boolean {
  return pile % (LARGEST_TAKE + 1) !== 0;
}

/** Returns the winning move, or 1 in a lost position. */
export function optimalMove(pile: number): number {
  return pile % (LARGEST_TAKE + 1) || 1;
}

export function randomMove(pile: number, random: RandomStream): number {
  return random.integer(1, Math.min(LARGEST_TAKE, pile));
}
