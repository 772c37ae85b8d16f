import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Assembler, FRAME_BYTES, Outbox, environmentProto as wire } from "../src/index.ts";

type Entry = { id: bigint; bytes: Uint8Array };

/** Makes an entry of about the given size. */
function entry(id: number, size: number): Entry {
  const request = {
    requestId: BigInt(id),
    request: { $case: "renew" as const, renew: { sessionIds: [new Uint8Array(size).fill(id)] } },
    cancel: false,
    chunk: undefined,
    traceparent: "",
  };
  return { id: BigInt(id), bytes: wire.SessionRequest.encode(request).finish() };
}

/** Sends entries, some of them through an outbox whose frames are joined. Returns the received entries in order of completion, with the frames' sizes. */
async function send(
  entries: readonly Entry[],
  full: () => boolean = () => false,
  limit = 1 << 30,
  isInner: (id: bigint) => boolean = () => false,
): Promise<{ received: Entry[]; sizes: number[] }> {
  const assembler = new Assembler(limit);
  const received: Entry[] = [];
  const sizes: number[] = [];
  const outbox = new Outbox((frame) => {
    sizes.push(frame.length);
    for (const request of wire.MultiplexRequest.decode(frame).requests) {
      const { requestId: id, chunk } = request;
      const bytes = chunk === undefined ? wire.SessionRequest.encode(request).finish() : assembler.add(id, chunk);
      if (bytes !== undefined) received.push({ id, bytes: new Uint8Array(bytes) });
    }
    if (!full()) return true;
    setImmediate(() => outbox.drained());
    return false;
  });
  const inner = new Outbox((frame) => {
    outbox.addFrame(frame);
    return true;
  });
  for (const { id, bytes } of entries) (isInner(id) ? inner : outbox).add(id, bytes);
  while (inner.pendingBytes + outbox.pendingBytes > 0) await new Promise(setImmediate);
  return { received, sizes };
}

describe("Outbox", () => {
  test("delivers every entry whole, in frames below 1 MiB, over a stream that is full at times", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 * FRAME_BYTES }), { maxLength: 6 }),
        fc.infiniteStream(fc.boolean()),
        async (sizes, pauses) => {
          const entries = sizes.map((size, i) => entry(i + 1, size));
          const sent = await send(entries, () => pauses.next().value === true);
          const byId = (a: Entry, b: Entry): number => Number(a.id - b.id);
          const received = sent.received.toSorted(byId);
          expect(received.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
          expect(entries.every(({ bytes }, i) => Buffer.compare(bytes, received[i]?.bytes ?? Buffer.of()) === 0)).toBe(
            true,
          );
          expect(Math.max(0, ...sent.sizes)).toBeLessThanOrEqual(FRAME_BYTES);
        },
      ),
      { numRuns: 10 },
    );
  });

  test("puts what is added in one turn into one frame", async () => {
    const { sizes } = await send(Array.from({ length: 100 }, (_, i) => entry(i + 1, 50)));
    expect(sizes).toHaveLength(1);
  });

  test("joins frames of another outbox with each other and with its own entries", async () => {
    const small = Array.from({ length: 100 }, (_, i) => entry(i + 1, 50));
    const { received, sizes } = await send(small, undefined, undefined, (id) => id % 2n === 0n);
    expect(sizes.length).toBeLessThanOrEqual(2);
    expect(received.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(small.map(({ id }) => Number(id)));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 * FRAME_BYTES }), { maxLength: 6 }),
        fc.infiniteStream(fc.boolean()),
        async (lengths, pauses) => {
          const entries = lengths.map((length, i) => entry(i + 1, length));
          const sent = await send(
            entries,
            () => pauses.next().value,
            undefined,
            (id) => id > 2n,
          );
          const byId = new Map(sent.received.map(({ id, bytes }) => [id, bytes]));
          expect([sent.received.length, byId.size]).toEqual([entries.length, entries.length]);
          for (const { id, bytes } of entries) expect(Buffer.compare(byId.get(id) ?? new Uint8Array(), bytes)).toBe(0);
          expect(Math.max(0, ...sent.sizes)).toBeLessThanOrEqual(FRAME_BYTES);
        },
      ),
      { numRuns: 10 },
    );
  });

  test("lets small entries pass a large one", async () => {
    const { received } = await send([entry(1, 5 * FRAME_BYTES), entry(2, 10), entry(3, 10)]);
    expect(received.map(({ id }) => id)).toEqual([2n, 3n, 1n]);
  });

  test("S5: counts the memory of small entries that are not read", () => {
    const outbox = new Outbox(() => false);
    for (let id = 1; id <= 1_000; id++) outbox.add(BigInt(id), new Uint8Array(10));
    expect(outbox.pendingBytes).toBeGreaterThan(1_000 * 100);
  });

  test("drops an entry for which no call waits", async () => {
    const outbox = new Outbox(() => {
      throw new Error("nothing is to be written");
    });
    const { id, bytes } = entry(1, 10);
    outbox.add(id, bytes);
    outbox.drop(id);
    await new Promise(setImmediate);
    expect(outbox.pendingBytes).toBe(0);
  });
});

describe("S5: Assembler", () => {
  const piece = { data: new Uint8Array(2), last: false };

  test("refuses empty pieces, and more unfinished entries than a sender begins", () => {
    const assembler = new Assembler(1 << 20);
    expect(() => assembler.add(1n, { data: new Uint8Array(0), last: false })).toThrow(/empty/);
    for (let id = 0n; id < Assembler.MAX_UNFINISHED; id++) assembler.add(id, piece);
    expect(() => assembler.add(1_000n, piece)).toThrow(expect.objectContaining({ code: "RESOURCE_EXHAUSTED" }));
    expect(assembler.add(1_000n, { ...piece, last: true })).toHaveLength(2);
    expect(assembler.add(0n, { ...piece, last: true })).toHaveLength(4);
    expect(() => assembler.add(1_000n, piece)).not.toThrow();
  });

  test("keeps no frame that a piece of one byte came in", () => {
    const frame = new Uint8Array(1 << 20);
    const assembler = new Assembler(1 << 20);
    assembler.add(1n, { data: frame.subarray(0, 1), last: false });
    const whole = assembler.add(1n, { data: frame.subarray(1, 2), last: true });
    expect([whole?.length, whole?.buffer.byteLength]).toEqual([2, 2]);
  });

  test("an outbox begins no more large entries than an assembler takes", async () => {
    const entries = Array.from({ length: 300 }, (_, i) => entry(i + 1, FRAME_BYTES / 4 + 1));
    const { received } = await send(entries, () => false, 64 << 20);
    expect(received).toHaveLength(300);
  });
});

test("Assembler holds no more than its limit", () => {
  const assembler = new Assembler(10);
  const piece = { data: new Uint8Array(6), last: false };
  assembler.add(1n, piece);
  expect(() => assembler.add(2n, piece)).toThrow(/exceed 10 bytes/);
  expect(assembler.add(1n, { data: new Uint8Array(2), last: true })).toHaveLength(8);
});
