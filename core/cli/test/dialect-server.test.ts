import { expect, test } from "@jest/globals";
import { dialectServer } from "../src/services/dialect-server.ts";

test.each([
  [{ dialects: "mcp" }, /--dialects is for clients over HTTP: give --http-port too/],
  [{ revealRewards: true }, /--reveal-rewards is for clients over HTTP/],
  [{ httpPort: "70000" }, /--http-port 70000 is not a port/],
  [{ httpPort: "" }, /--http-port {2}is not a port/],
  [{ httpPort: "0", dialects: "mcp,mpc" }, /--dialects mpc is not a dialect; there is mcp/],
  [{ httpPort: "0", dialects: "" }, /--dialects {2}is not a dialect/],
])("mrlm serve refuses %j", async (options, message) => {
  await expect(dialectServer(options)).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringMatching(message),
  });
});

test("mrlm serve needs no dialect without --http-port", async () => {
  expect(await dialectServer({})).toBeUndefined();
});
