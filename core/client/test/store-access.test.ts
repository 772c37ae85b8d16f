import { expect, test } from "@jest/globals";
import { ServerTls, Tokens } from "@mrlm/kit/access";
import { serveStore } from "@mrlm/server";
import { connectStore } from "../src/index.ts";
import { authority } from "./support/handshake-faults.ts";

const describe = () => ({ path: "runs/x", config: "", hasEnded: false, isLocked: false });
const store = () => Promise.reject(new Error("There is none."));

test("a store server with mutual TLS and a token serves its clients, and refuses others with the reason", async () => {
  const server = await serveStore({
    address: "127.0.0.1:0",
    source: { describe, store },
    tls: new ServerTls({ ...authority.issue({ usages: ["server"] }), ca: authority.cert }),
    tokens: Tokens.of("secret"),
  });
  const address = `127.0.0.1:${server.port}`;
  const tls = { ca: authority.cert, ...authority.issue({ usages: ["client"] }) };
  const client = await connectStore(address, { tls, token: "secret" });
  expect(await client.describe()).toEqual(describe());
  await client.close();
  await expect(connectStore(address, { tls, token: "other" })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  for (const given of [undefined, { ca: authority.cert }])
    await expect(
      connectStore(address, { token: "secret", ...(given === undefined ? {} : { tls: given }) }),
    ).rejects.toMatchObject({ code: "TLS_FAILED" });
  await server.close();
});

test("an address without a port is refused", async () => {
  await expect(connectStore("127.0.0.1")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
