import { expect, test } from "@jest/globals";
import { ClientCalls } from "../src/store/client-calls.ts";

test("a repeated call gets the first response, and an earlier one is refused", async () => {
  const calls = new ClientCalls();
  let works = 0;
  const run = (client: string, call: bigint) => calls.run(client, call, async () => ++works);
  expect(await run("a", 7n)).toBe(1);
  expect(await run("a", 7n)).toBe(1);
  expect(await run("a", 8n)).toBe(2);
  await expect(run("a", 7n)).rejects.toMatchObject({ code: "CALL_OUT_OF_ORDER" });
  expect(await run("b", 7n)).toBe(3);
  expect(await run("a", 0n)).toBe(4);
  expect(await run("a", 0n)).toBe(5);
});

test("a failed call may be made again", async () => {
  const calls = new ClientCalls();
  await expect(calls.run("a", 1n, () => Promise.reject(new Error("full")))).rejects.toThrow("full");
  expect(await calls.run("a", 1n, async () => "done")).toBe("done");
});
