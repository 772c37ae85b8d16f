/** `1, 2, ..., 10`: whole numbers in equal steps, written out. */
import { number, type Node } from "../tree/node.ts";

const MOST_ITEMS = 200n;

/** The items with an ellipsis between whole numbers filled in; the same items where it stands for something else. */
export function withoutEllipsis(items: readonly Node[]): readonly Node[] {
  const at = items.findIndex((item) => item.kind === "symbol" && item.name === "...");
  const before = wholeNumber(items[at - 1]);
  const after = wholeNumber(items[at + 1]);
  if (at < 1 || before === undefined || after === undefined) return items;
  const first = wholeNumber(items[at - 2]);
  const step = first === undefined ? (after > before ? 1n : -1n) : before - first;
  if (step === 0n || (after - before) % step !== 0n) return items;
  const count = (after - before) / step - 1n;
  if (count < 0n || count > MOST_ITEMS) return items;
  const filled = Array.from({ length: Number(count) }, (_, i) => number(before + step * BigInt(i + 1)));
  return [...items.slice(0, at), ...filled, ...items.slice(at + 1)];
}

function wholeNumber(node: Node | undefined): bigint | undefined {
  return node?.kind === "number" && node.value.d === 1n ? node.value.n : undefined;
}
