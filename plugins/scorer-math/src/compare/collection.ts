/** Tuples in order; lists and sets in any order. */
import { show } from "../tree/show.ts";
import type { Node, TupleNode } from "../tree/node.ts";
import { different, equivalent, type Outcome, type Verdict } from "../verdict.ts";
import type { Context } from "./context.ts";

/** Maximum number of items of a collection that is compared. */
const MOST_ITEMS = 200;

/** Compares part by part. A part that differs decides; otherwise an undecided part makes the result undecided. */
export function compareInOrder(c: Context, expected: readonly Node[], answer: readonly Node[], what: string): Outcome {
  if (expected.length !== answer.length) return different("structure", `another number of ${what}`);
  let open: Outcome | undefined;
  for (const [i, item] of expected.entries()) {
    const outcome = c.compare(item, answer[i] as Node);
    if (outcome.verdict === "different") return different(outcome.method, `${what} ${i + 1}: ${outcome.reason}`);
    if (outcome.verdict === "undecided") open ??= outcome;
  }
  return open ?? equivalent("structure", `equal ${what} in order`);
}

/** Compares two collections as sets: every item of one has an equal item in the other. Repetitions do not count. */
export function compareAsSets(c: Context, expected: readonly Node[], answer: readonly Node[]): Outcome {
  if (expected.length > MOST_ITEMS || answer.length > MOST_ITEMS)
    return different("structure", `more than ${MOST_ITEMS} items`);
  // Items that are spelled alike need no comparison.
  const [expectedKeys, answerKeys] = [expected.map(show), answer.map(show)];
  const statesOf = (keys: readonly string[], others: ReadonlySet<string>): Verdict[] =>
    keys.map((key) => (others.has(key) ? "equivalent" : "different"));
  const expectedStates = statesOf(expectedKeys, new Set(answerKeys));
  const answerStates = statesOf(answerKeys, new Set(expectedKeys));
  let open: Outcome | undefined;
  for (const [i, item] of expected.entries()) {
    for (const [j, other] of answer.entries()) {
      if (expectedStates[i] === "equivalent" && answerStates[j] === "equivalent") continue;
      const outcome = c.compare(item, other);
      if (outcome.verdict === "different") continue;
      if (outcome.verdict === "undecided") open ??= outcome;
      if (expectedStates[i] !== "equivalent") expectedStates[i] = outcome.verdict;
      if (answerStates[j] !== "equivalent") answerStates[j] = outcome.verdict;
    }
  }
  if (expectedStates.includes("different")) return different("structure", "an item of the reference is missing");
  if (answerStates.includes("different")) return different("structure", "an item that the reference does not have");
  const isOpen = expectedStates.includes("undecided") || answerStates.includes("undecided");
  return isOpen && open ? open : equivalent("structure", "the same items");
}

/** Compares two lists in any order. An item that the reference repeats has to be repeated as often: the prime factors `2, 2, 3`. */
export function compareAsLists(c: Context, expected: readonly Node[], answer: readonly Node[]): Outcome {
  const outcome = compareAsSets(c, expected, answer);
  if (outcome.verdict !== "equivalent" || new Set(expected.map(show)).size === expected.length) return outcome;
  return expected.length === answer.length ? outcome : different("structure", "another number of items");
}

/** Compares tuples: brackets matter only where two items may be the ends of an interval. */
export function compareTuples(c: Context, expected: TupleNode, answer: TupleNode): Outcome {
  const isPair = expected.items.length === 2 && answer.items.length === 2;
  if (
    isPair &&
    (bracketOf(expected.open) !== bracketOf(answer.open) || bracketOf(expected.close) !== bracketOf(answer.close))
  ) {
    return different("structure", "open and closed ends differ");
  }
  return compareInOrder(c, expected.items, answer.items, "components");
}

function bracketOf(bracket: TupleNode["open"]): string {
  return bracket === "angle" ? "round" : bracket;
}
