import { type Message, textMessage } from "@mrlm/kit";
import type { DebateOptions } from "./options.ts";
import type { Side } from "./sides.ts";
import type { PublicTask } from "./tasks.ts";

/** Place of a turn in a debate. */
export interface TurnPlace {
  /** Index of the round, from 0. */
  readonly round: number;
  /** Argument of the other side that is new to this one, empty for a turn without one; `undefined` before its first turn. */
  readonly reply: string | undefined;
}

/** Returns the new messages of a side that is on turn: the task in its first round, then the other side's arguments. */
export function promptOf(
  side: Side,
  { round, reply }: TurnPlace,
  { question, background }: PublicTask,
  { turns, order, max_characters }: DebateOptions,
): Message[] {
  const stance = side === "pro" ? "for" : "against";
  const parts: string[] = [];
  if (round === 0) {
    parts.push(
      `You debate this proposition: ${question}`,
      ...(background === "" ? [] : [`Background: ${background}`]),
      `You argue ${stance} it. Each side has ${turns} ${turns === 1 ? "turn" : "turns"}${
        order === "simultaneous" ? "; both write each round at the same time" : ""
      }. A judge compares the sides.`,
      `Write one argument of at most ${max_characters} characters in each turn, and nothing else. Reply to the other side, give evidence and reasons, and do not repeat earlier text.`,
    );
  }
  if (reply !== undefined)
    parts.push(reply === "" ? "The other side gave no argument." : `The other side wrote:\n${reply}`);
  if (turns > 1 && round === turns - 1) parts.push("This is your last turn.");
  return [textMessage("user", parts.join("\n"))];
}
