import type { RoleId, Trajectory } from "@mrlm/spec";
import { messageText } from "@mrlm/kit";

/** Outcome of a game by its rules: the roles in the order of their turns, and the total reward of each. */
export interface Ruling {
  readonly movers: readonly RoleId[];
  readonly rewards: Readonly<Record<RoleId, number>>;
}

/** Decides a game from its task and its messages alone, without the code of the environment. */
export type Referee = (task: number, messages: readonly string[]) => Ruling;

/** Referee of `nim@1` for tasks of `train`: task i begins with i + 1 objects. */
export const nimReferee: Referee = (task, messages) => {
  const sides = ["first", "second"];
  const movers: RoleId[] = [];
  let pile = task + 1;
  let winner: RoleId | undefined;
  for (const [i, message] of messages.entries()) {
    const [mover, other] = i % 2 === 0 ? sides : sides.toReversed();
    movers.push(mover as RoleId);
    const isLegal = ["1", "2", "3"].includes(message) && Number(message) <= pile;
    if (isLegal) pile -= Number(message);
    if (!isLegal || pile === 0) winner = isLegal ? mover : other;
    if (winner !== undefined) break;
  }
  return { movers, rewards: Object.fromEntries(sides.map((side) => [side, side === winner ? 1 : -1])) };
};

/** Referee of `signals@1` with `sender_reward: none`: task i is meaning i + 1. */
export const signalsReferee: Referee = (task, [, answer]) => ({
  movers: ["sender", "receiver"],
  rewards: { sender: 0, receiver: answer === String(task + 1) ? 1 : 0 },
});

/**
 * Returns the differences between recorded games and their rules: turns of another role, rewards of another outcome, messages that are not the sampled
 * tokens of their agent, and masks that are not the sampled tokens.
 * @param read returns the text of sampled tokens of a player; `undefined` for a script
 */
export function refereeFaults(
  trajectories: readonly Trajectory[],
  referee: Referee,
  read: (player: Trajectory["agents"][string]["player"], tokens: Int32Array) => string | undefined,
): string[] {
  return trajectories.flatMap(({ id, task, turns, agents }) => {
    const messages = turns.map(({ response }) => messageText(response));
    const { movers, rewards } = referee(Number(task.split("/")[1]), messages);
    const played = turns.map(({ agent }) => agent).join(", ");
    const faults =
      played === movers.join(", ") ? [] : [`roles: turns of ${played}, and the rules state ${movers.join(", ")}`];
    for (const [role, { player, total, segments }] of Object.entries(agents)) {
      const earned = total.scored ? total.value : Number.NaN;
      if (earned !== rewards[role])
        faults.push(`rewards: ${role} earned ${earned}, and the rules state ${rewards[role]}`);
      const expected = segments.map(({ mask }) => new Uint8Array(mask.length));
      for (const [i, { agent, tokens }] of turns.entries()) {
        if (agent !== role || tokens === undefined) continue;
        expected[tokens.segment]?.fill(1, tokens.start, tokens.end);
        const text = read(
          player,
          segments[tokens.segment]?.tokens.subarray(tokens.start, tokens.end) ?? new Int32Array(),
        );
        if (text !== messages[i])
          faults.push(`tokens: turn ${i} of ${role} is "${messages[i]}", and its tokens "${text}"`);
      }
      if (segments.some(({ mask }, i) => mask.join() !== expected[i]?.join()))
        faults.push(`masks: those of ${role} are not its sampled tokens`);
    }
    return faults.map((fault) => `${id}: ${fault}`);
  });
}
