import type { AgentTrajectory, RoleId, Trajectory } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";

/** One agent's total in an episode; `null` if it is unscored. */
export interface MatchPart {
  readonly role: RoleId;
  readonly player: Pick<PlayedBy, "kind" | "name">;
  readonly reward: number | null;
}

/** Result of a role against another one in one episode. The reward of a role is the mean over its agents. */
export interface Match {
  readonly role: RoleId;
  readonly player: MatchPart["player"];
  readonly opponent: MatchPart["player"] & { readonly role: RoleId };
  readonly reward: number;
  /** 1 if its reward is above the opponent's, 0.5 if they are equal, 0 if it is below; `null` if the opponent's is unscored. */
  readonly points: 1 | 0.5 | 0 | null;
}

/** Largest sum of rewards that counts as 0: rounding of rewards that are not binary fractions. */
const ZERO = 1e-9;

/** Returns the parts of an episode that its matches are made of; none of a failed one. */
export function matchParts({ agents, error }: Pick<Trajectory, "agents" | "error">): MatchPart[] {
  return error === undefined ? Object.values(agents).map(partOf) : [];
}

function partOf({ role, player, total }: AgentTrajectory): MatchPart {
  return { role, player, reward: total.scored ? total.value : null };
}

/** Returns the result of each role against each other one, without unscored roles. */
export function matchesOf(parts: readonly MatchPart[]): Match[] {
  const roles = [...Map.groupBy(parts, ({ role }) => role)].map(([role, agents]) => {
    const rewards = agents.flatMap(({ reward }) => reward ?? []);
    const reward =
      rewards.length < agents.length ? null : rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
    return { role, player: (agents[0] as MatchPart).player, reward };
  });
  return roles.flatMap(({ role, player, reward }) =>
    reward === null
      ? []
      : roles
          .filter((other) => other.role !== role)
          .map(({ role: against, player: { kind, name }, reward: theirs }) => ({
            role,
            player,
            opponent: { role: against, kind, name },
            reward,
            points: theirs === null ? null : pointsOf(reward - theirs),
          })),
  );
}

function pointsOf(lead: number): 1 | 0.5 | 0 {
  return Math.abs(lead) <= ZERO ? 0.5 : lead > 0 ? 1 : 0;
}

/** Decides whether episodes are of a game that one side wins: the rewards of each one sum to 0, and not all of them are 0. Ignores episodes of one role, and unscored ones. */
export class ZeroSum {
  #isRefuted = false;
  #isDecided = false;

  add(parts: readonly MatchPart[]): void {
    const rewards = parts.flatMap(({ reward }) => reward ?? []);
    if (rewards.length < parts.length || new Set(parts.map(({ role }) => role)).size < 2) return;
    const sum = rewards.reduce((total, each) => total + each, 0);
    const size = rewards.reduce((total, each) => Math.max(total, Math.abs(each)), 0);
    if (Math.abs(sum) > ZERO * Math.max(1, size)) this.#isRefuted = true;
    if (size > ZERO) this.#isDecided = true;
  }

  get holds(): boolean {
    return this.#isDecided && !this.#isRefuted;
  }
}
