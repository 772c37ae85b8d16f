import { type Match, matchesOf, type MatchPart, ZeroSum } from "@mrlm/kit/learning";
import { defined, type RoleId } from "@mrlm/spec";
import { type Interval, shareInterval } from "./intervals.ts";

/** Episodes of a role against one opponent. */
export interface MatchSummary {
  readonly role: RoleId;
  /** Policy that plays it. */
  readonly policy: string;
  /** Role, kind and name of the other player. Versions of a policy count together. */
  readonly opponent: Match["opponent"];
  /** Scored episodes. */
  readonly episodes: number;
  /** Mean reward of the role. */
  readonly reward: number;
  /** Games won, equal and lost; absent where the environment is no zero-sum game. */
  readonly games?: {
    readonly won: number;
    readonly tied: number;
    readonly lost: number;
    /** Share of the games that were won. A tie is not won. */
    readonly winRate: number;
    /** 95 % confidence interval of `winRate`: Wilson's at the effective number of tasks. */
    readonly interval: Interval | null;
  };
}

/** Results of the roles that a policy plays, by role and opponent. */
export class MatchTally {
  readonly #role: RoleId | undefined;
  readonly #zeroSum = new ZeroSum();
  /** Matches by role and opponent, then by task. */
  readonly #matches = new Map<string, Map<string, Match[]>>();
  readonly #parts = new Map<RoleId, number>();

  /** @param role the only role to count; default: all roles */
  constructor(role?: RoleId) {
    this.#role = role;
  }

  /** @param task id with the environment */
  add(task: string, parts: readonly MatchPart[]): void {
    this.#zeroSum.add(parts);
    const own = (role: RoleId, { kind }: MatchPart["player"]): boolean =>
      kind === "policy" && (this.#role === undefined || role === this.#role);
    for (const { role, player } of parts)
      if (own(role, player)) this.#parts.set(role, (this.#parts.get(role) ?? 0) + 1);
    for (const match of matchesOf(parts)) {
      if (!own(match.role, match.player)) continue;
      const { role, kind, name } = match.opponent;
      const key = JSON.stringify([match.role, match.player.name, role, kind, name]);
      const tasks = this.#matches.get(key) ?? new Map<string, Match[]>();
      this.#matches.set(key, tasks);
      tasks.set(task, [...(tasks.get(task) ?? []), match]);
    }
  }

  /** Returns the share of each role in the parts that the policy played; empty if it played one role. */
  sides(): Readonly<Record<RoleId, number>> {
    const whole = this.#parts.values().reduce((sum, count) => sum + count, 0);
    return this.#parts.size < 2
      ? {}
      : Object.fromEntries([...this.#parts].map(([role, count]) => [role, count / whole]));
  }

  /** Returns results against other players, and in a zero-sum game those of the policy against itself too. */
  summaries(): MatchSummary[] {
    const isGame = this.#zeroSum.holds;
    return [...this.#matches.values()].flatMap((tasks) => {
      const matches = [...tasks.values()].flat();
      const { role, player, opponent } = matches[0] as Match;
      if (!isGame && opponent.kind === "policy") return [];
      const reward = matches.reduce((sum, match) => sum + match.reward, 0) / matches.length;
      const games = isGame ? gamesOf(tasks) : undefined;
      return [
        {
          role,
          policy: player.name,
          opponent,
          episodes: matches.length,
          reward,
          ...defined({ games }),
        },
      ];
    });
  }
}

/** Returns the results of games; `undefined` if every opponent is unscored. */
function gamesOf(tasks: ReadonlyMap<string, readonly Match[]>): MatchSummary["games"] {
  const points = [...tasks.values()]
    .map((matches) => matches.flatMap(({ points: won }) => won ?? []))
    .filter(({ length }) => length > 0);
  const all = points.flat();
  if (all.length === 0) return undefined;
  const count = (wanted: number): number => all.filter((each) => each === wanted).length;
  const shares = points.map((task) => task.filter((each) => each === 1).length / task.length);
  return {
    won: count(1),
    tied: count(0.5),
    lost: count(0),
    winRate: count(1) / all.length,
    interval: shareInterval(shares, all.length),
  };
}
