import { score } from "@mrlm/kit";
import type { Trajectory } from "@mrlm/spec";
import { episode, segment, turn } from "./groups.ts";

/** Result of an action: its reward, and the next state; without one the episode ends. */
type Outcome = readonly [reward: number, next?: string];

/** World of a few states, in which a policy with logits by state acts for at most `turns` turns. It begins in the first state. */
export interface World {
  readonly turns: number;
  readonly logits: Readonly<Record<string, readonly number[]>>;
  /** By state and action. */
  readonly outcomes: Readonly<Record<string, readonly Outcome[]>>;
}

/** Episode of a world with its probability. */
export interface Path {
  readonly probability: number;
  readonly steps: readonly { readonly state: string; readonly action: number; readonly reward: number }[];
}

/** Derivatives with respect to the logits, in the order of the states. */
export type Gradient = readonly number[];

/** Episodes of one, two or three turns, whose number of turns the policy decides. An episode can come back to `loop`. */
export const WORLD: World = {
  turns: 3,
  logits: { start: [0.3, 0.1, -0.4], loop: [-0.2, 0.5, 0], fork: [0.7, -0.6, 0.2] },
  outcomes: {
    start: [[1], [0.5, "loop"], [-0.25, "fork"]],
    loop: [[0], [0.75, "loop"], [-1, "fork"]],
    fork: [[2], [0, "loop"], [-0.5]],
  },
};

/** Episodes of three turns, each in a state of its own. What an episode earns later depends on what it did before. */
export const CHAIN: World = {
  turns: 3,
  logits: { first: [0.4, -0.3], second: [-0.5, 0.2], third: [0.1, 0.6] },
  outcomes: {
    first: [
      [1, "second"],
      [-0.5, "second"],
    ],
    second: [
      [0.25, "third"],
      [2, "third"],
    ],
    third: [[-1], [0.5]],
  },
};

function statesOf({ logits }: World): string[] {
  return Object.keys(logits);
}

function outcomeOf({ outcomes }: World, state: string, action: number): Outcome {
  return (outcomes[state] as readonly Outcome[])[action] as Outcome;
}

export function probabilities(world: World, state: string): number[] {
  const exps = (world.logits[state] as readonly number[]).map(Math.exp);
  const total = exps.reduce((sum, each) => sum + each, 0);
  return exps.map((each) => each / total);
}

export function pathsOf(world: World, state = statesOf(world)[0] as string, left = world.turns): Path[] {
  return probabilities(world, state).flatMap((own, action): Path[] => {
    const [reward, next] = outcomeOf(world, state, action);
    const step = { state, action, reward };
    if (next === undefined || left === 1) return [{ probability: own, steps: [step] }];
    return pathsOf(world, next, left - 1).map(({ probability, steps }) => ({
      probability: own * probability,
      steps: [step, ...steps],
    }));
  });
}

/** Returns d log π(action | state) with respect to all logits. */
export function scoreFunction(world: World, state: string, action: number): Gradient {
  return statesOf(world).flatMap((other) =>
    probabilities(world, other).map((p, a) => (other === state ? Number(a === action) - p : 0)),
  );
}

export function addTo(sum: number[], gradient: Gradient, factor: number): void {
  for (const [i, each] of gradient.entries()) sum[i] = (sum[i] ?? 0) + factor * each;
}

/**
 * Returns the value of a state and its derivative, by recursion over states (not over episodes):
 *
 *     V = Σ_a π(a) Q(a)     Q = r + γ V'     dV = Σ_a dπ(a) Q(a) + π(a) discount dV'
 *
 * @param discount γ for the derivative of V; 1 for Σ_k E[∇log π R_k], in which later turns weigh as much as the first
 */
export function valueOf(
  world: World,
  gamma: number,
  discount: number,
  state = statesOf(world)[0] as string,
  left = world.turns,
): { readonly value: number; readonly gradient: Gradient } {
  const gradient: number[] = statesOf(world).flatMap((each) => (world.logits[each] as readonly number[]).map(() => 0));
  let value = 0;
  for (const [action, p] of probabilities(world, state).entries()) {
    const [reward, next] = outcomeOf(world, state, action);
    const later = next === undefined || left === 1 ? undefined : valueOf(world, gamma, discount, next, left - 1);
    const q = reward + gamma * (later?.value ?? 0);
    value += p * q;
    addTo(gradient, scoreFunction(world, state, action), p * q);
    if (later !== undefined) addTo(gradient, later.gradient, p * discount);
  }
  return { value, gradient };
}

/** Returns a path as an episode. The action of turn k is its first token; k tokens of probability 1 follow it, and one is shown before it. */
export function asEpisode(world: World, { steps }: Path): Trajectory {
  const mask = steps.flatMap((_, k) => [0, ...new Array<number>(k + 1).fill(1)]);
  const own = segment(mask);
  let at = 0;
  const turns = steps.map(({ state, action, reward }, k) => {
    const start = at + 1;
    at = start + k + 1;
    own.logprobs.fill(0, start, at);
    own.logprobs[start] = Math.log(probabilities(world, state)[action] as number);
    return turn({ state, tokens: { segment: 0, start, end: at }, rewards: { agent: score(reward) } });
  });
  const total = steps.reduce((sum, { reward }) => sum + reward, 0);
  return episode(total, { turns }, [own]);
}

/** Returns the score function of each learnt token of {@link asEpisode}. */
export function tokenScores(world: World, { steps }: Path): Gradient[] {
  return steps.flatMap(({ state, action }, k) => [
    scoreFunction(world, state, action),
    ...new Array<Gradient>(k).fill(scoreFunction(world, state, action).map(() => 0)),
  ]);
}

/** Returns all groups of n paths with their probabilities. */
export function groupsOf(paths: readonly Path[], n: number): { probability: number; members: Path[] }[] {
  if (n === 0) return [{ probability: 1, members: [] }];
  return groupsOf(paths, n - 1).flatMap(({ probability, members }) =>
    paths.map((path) => ({ probability: probability * path.probability, members: [...members, path] })),
  );
}
