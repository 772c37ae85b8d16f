import { expect, test } from "@jest/globals";
import { eventsOf } from "../src/event-stream.ts";

const { signal } = new AbortController();

async function* chunks(text: string, count: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let i = 0; i < count; i++) yield bytes;
}

test("an event above 64 MiB is refused with a code, and any number of small ones is read", async () => {
  const read = async (body: AsyncIterable<Uint8Array>): Promise<number> => {
    let events = 0;
    for await (const { data } of eventsOf(body, signal)) events += Math.sign(data.length);
    return events;
  };
  const line = `data: ${"x".repeat(1_048_576)}\n`;
  await expect(read(chunks(line, 100))).rejects.toMatchObject({
    code: "BRIDGE_RESPONSE_INVALID",
    message: "An event of the server is larger than 64 MiB.",
  });
  expect(await read(chunks(`${line}\n`, 70))).toBe(70);
});
