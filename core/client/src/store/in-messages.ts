import { FRAME_BYTES } from "@mrlm/wire";

/** Divides items into lists of about {@link FRAME_BYTES}, each of one item at least. There is one empty list where there are no items. */
export function inMessages<T>(items: readonly T[], sizeOf: (item: T) => number): T[][] {
  let message: T[] = [];
  const messages = [message];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (message.length > 0 && bytes + size > FRAME_BYTES) {
      messages.push((message = []));
      bytes = 0;
    }
    message.push(item);
    bytes += size;
  }
  return messages;
}
