import type { EpisodeTurn } from "./episode-turns.ts";

/** Part of one agent in a member of a group. */
export interface TurnedEpisode {
  /** Member of the group. Several agents of a role in one episode are one member. */
  readonly member: unknown;
  readonly turns: readonly EpisodeTurn[];
}

/** Advantages of the turns of a role in a group. */
interface TurnAdvantages {
  /** One number for each turn, by episode. */
  readonly advantages: readonly (readonly number[])[];
  /** Turns whose baseline is of episodes that were in the same state. */
  readonly inState: number;
}

/** Returns to go of each member that has some under a key. */
type Compared = ReadonlyMap<unknown, readonly number[]>;

/**
 * Returns the advantages of the turns of one role in one group. R_ik is the return to go of turn k of episode i:
 *
 *     A_ik = c (R_ik - b_ik)        c = (n - 1) / n with group_mean, 1 with leave_one_out, for n members
 *     b_ik = mean over the other members that have a turn k of R_jk; where none has one, of their latest turn before k that one has
 *
 * By state the baseline is the mean over the other members that were in the same state (in any turn) of their mean return to go from it, where one was
 * (after arXiv 2505.10978, which includes the own episode and divides by a deviation).
 *
 * No baseline has a term of the own episode, nor of its number of turns, so E[A_ik ∇log π] = c E[R_ik ∇log π] for any number of turns. A mean that includes
 * the own turn would have the factor (m - 1) / m of the m members with a turn k in place of c, and a sum of rewards that are centred turn by turn (arXiv
 * 2505.11821) has a bias against turns with rewards: ADR 0036 (credit by turn). Where all members have a turn k, `group_mean` is R_ik - mean_j R_jk.
 *
 * A turn whose return equals all that it is compared with gets exactly 0, and so does every turn of a group of one.
 */
export function turnAdvantages(
  given: readonly TurnedEpisode[],
  isByState: boolean,
  isGroupMean: boolean,
): TurnAdvantages {
  const isShared = new Set(given.map(({ member }) => member)).size > 1;
  // The agents of a single member are compared with one another.
  const episodes = isShared ? given : given.map(({ turns }, i) => ({ member: i, turns }));
  const visits = episodes.flatMap(({ member, turns }) => turns.map((turn, index) => ({ member, index, turn })));
  const members = new Set(visits.map(({ member }) => member)).size;
  if (members < 2) return { advantages: episodes.map(({ turns }) => turns.map(() => 0)), inState: 0 };
  const factor = isGroupMean ? (members - 1) / members : 1;
  const byTurn = returnsBy(visits, ({ index }) => index);
  const byState = returnsBy(isByState ? visits : [], ({ turn: { state } }) => state);
  let inState = 0;
  const advantageOf = (member: unknown, { toGo, state }: EpisodeTurn, index: number): number => {
    let others = state === undefined ? [] : othersOf(byState.get(state), member);
    if (others.length > 0) inState++;
    // Every member has a first turn.
    for (let at = index; others.length === 0; at--) others = othersOf(byTurn.get(at), member);
    if (others.flat().every((other) => other === toGo)) return 0;
    return factor * (toGo - mean(others.map(mean)));
  };
  const advantages = episodes.map(({ member, turns }) => turns.map((turn, k) => advantageOf(member, turn, k)));
  return { advantages, inState };
}

/** Spreads the advantages of turns over their learnt tokens. */
export function tokenAdvantages(
  turns: readonly EpisodeTurn[],
  advantages: readonly number[],
  tokens: number,
): Float64Array {
  const spread = new Float64Array(tokens);
  for (const [k, { start, end }] of turns.entries()) spread.fill(advantages[k] as number, start, end);
  return spread;
}

interface Visit {
  readonly member: unknown;
  readonly index: number;
  readonly turn: EpisodeTurn;
}

/** Returns the returns to go by a key, and by member. */
function returnsBy<Key>(visits: readonly Visit[], keyOf: (visit: Visit) => Key): ReadonlyMap<Key, Compared> {
  return new Map(
    [...Map.groupBy(visits, keyOf)].map(([key, own]): [Key, Compared] => [
      key,
      new Map(
        [...Map.groupBy(own, ({ member }) => member)].map(([member, all]) => [
          member,
          all.map(({ turn }) => turn.toGo),
        ]),
      ),
    ]),
  );
}

/** Returns the returns to go of all members but one. */
function othersOf(compared: Compared | undefined, member: unknown): (readonly number[])[] {
  return [...(compared ?? [])].flatMap(([other, returns]) => (other === member ? [] : [returns]));
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
