/** Tuples in order; lists and sets in any order. */
import { show } from "../tree/show.ts";
import type { Node, TupleNode } from "../tree/node.ts";
import { different, equivalent, type Outcome, type Verdict } from "../verdict.ts";
import type { Context } from "./context.ts";

/** More items are no answer that anyone compares by hand. */
const MOST_ITEMS = 200;

/** The first part that is not equal decides; an undecided part leaves the whole undecided unless another differs. */
export function compareInOrder(c: Context, gold: readonly Node[], answer: readonly Node[], what: string): Outcome {
  if (gold.length !== answer.length)
    return different("structure", `${answer.length} ${what} instead of ${gold.length}`);
  let open: Outcome | undefined;
  for (const [i, item] of gold.entries()) {
    const outcome = c.compare(item, answer[i] as Node);
    if (outcome.verdict === "different") return different(outcome.method, `${what} ${i + 1}: ${outcome.reason}`);
    if (outcome.verdict === "undecided") open ??= outcome;
  }
  return open ?? equivalent("structure", `equal ${what} in order`);
}

/** Equality as sets: every item of one has an equal in the other. Repetitions do not count. */
export function compareAsSets(c: Context, gold: readonly Node[], answer: readonly Node[]): Outcome {
  if (gold.length > MOST_ITEMS || answer.length > MOST_ITEMS)
    return different("structure", `more than ${MOST_ITEMS} items`);
  // Items that are spelled alike need no comparison.
  const [goldKeys, answerKeys] = [gold.map(show), answer.map(show)];
  const statesOf = (keys: readonly string[], others: ReadonlySet<string>): Verdict[] =>
    keys.map((key) => (others.has(key) ? "equivalent" : "different"));
  const goldStates = statesOf(goldKeys, new Set(answerKeys));
  const answerStates = statesOf(answerKeys, new Set(goldKeys));
  let open: Outcome | undefined;
  for (const [i, item] of gold.entries()) {
    for (const [j, other] of answer.entries()) {
      if (goldStates[i] === "equivalent" && answerStates[j] === "equivalent") continue;
      const outcome = c.compare(item, other);
      if (outcome.verdict === "different") continue;
      if (outcome.verdict === "undecided") open ??= outcome;
      if (goldStates[i] !== "equivalent") goldStates[i] = outcome.verdict;
      if (answerStates[j] !== "equivalent") answerStates[j] = outcome.verdict;
    }
  }
  if (goldStates.includes("different")) return different("structure", "an item of the reference is missing");
  if (answerStates.includes("different")) return different("structure", "an item that the reference does not have");
  const isOpen = goldStates.includes("undecided") || answerStates.includes("undecided");
  return isOpen && open ? open : equivalent("structure", "the same items");
}

/** Tuples: brackets matter only where two items may be the ends of an interval. */
export function compareTuples(c: Context, gold: TupleNode, answer: TupleNode): Outcome {
  const isPair = gold.items.length === 2 && answer.items.length === 2;
  if (
    isPair &&
    (bracketOf(gold.open) !== bracketOf(answer.open) || bracketOf(gold.close) !== bracketOf(answer.close))
  ) {
    return different("structure", "open and closed ends differ");
  }
  return compareInOrder(c, gold.items, answer.items, "components");
}

function bracketOf(bracket: TupleNode["open"]): string {
  return bracket === "angle" ? "round" : bracket;
}
