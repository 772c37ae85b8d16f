import { expect, test } from "@jest/globals";
import { type Fetch, HttpClient, MAX_ANSWER_BYTES } from "../src/bridge.ts";

const MEGABYTE = new Uint8Array(1_048_576).fill(0x61);
const { signal } = new AbortController();

function clientOf(chunks: readonly Uint8Array[], status = 200): { client: HttpClient; sent: () => number } {
  let sent = 0;
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      sent++;
      yield chunk;
    }
  }
  const fetch: Fetch = async () => ({ status, headers: { get: () => null }, body: body() });
  return { client: new HttpClient("http://a:1", {}, fetch), sent: () => sent };
}

test.each([200, 500])("an answer of status %s above 64 MiB is cut off with a code", async (status) => {
  const { client, sent } = clientOf(
    Array.from({ length: 100 }, () => MEGABYTE),
    status,
  );
  await expect(client.json({ method: "GET", path: "/schema", signal })).rejects.toMatchObject({
    code: "BRIDGE_RESPONSE_INVALID",
    message: "An answer of http://a:1 is larger than 64 MiB.",
  });
  expect(sent()).toBe(MAX_ANSWER_BYTES / MEGABYTE.length + 1);
});

test("characters and marks that are divided between chunks are read", async () => {
  const bytes = Buffer.from('\ufeff{"a":"é😀"}');
  const { client } = clientOf(Array.from(bytes, (byte) => Uint8Array.of(byte)));
  expect(await client.json({ method: "GET", path: "/", signal })).toEqual({ a: "é😀" });
});
