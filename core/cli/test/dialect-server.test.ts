import { expect, test } from "@jest/globals";
import { silentLogger } from "@mrlm/kit/service";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { SessionTable } from "@mrlm/server/sessions";
import { declareServe, type ServeOptions } from "../src/declarations/serve.ts";
import { dialectServers } from "../src/services/dialect-server.ts";
import { type GivenOptions, parseOptions } from "./support/parse-options.ts";

const serversOf = async (given: GivenOptions<ServeOptions>) => dialectServers(parseOptions(declareServe, given));

test.each<[GivenOptions<ServeOptions>, RegExp]>([
  [{ dialects: "mcp" }, /--dialects is for clients over HTTP: give --http-port too/],
  [{ revealRewards: true }, /--reveal-rewards is for clients over HTTP/],
  [{ nemoGymUnscored: "error" }, /--nemo-gym-unscored is for clients over HTTP/],
  [{ httpPort: ["70000"] }, /--http-port 70000 is not a port/],
  [{ httpPort: [""] }, /--http-port {2}is not a port/],
  [{ httpPort: ["0", "math="] }, /--http-port {2}is not a port/],
  [{ httpPort: ["0"], dialects: "mcp,mpc" }, /--dialects mpc is not a dialect; there is mcp/],
  [{ httpPort: ["0"], dialects: "" }, /--dialects {2}is not a dialect/],
])("mrlm serve refuses %j", async (options, message) => {
  await expect(serversOf(options)).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringMatching(message),
  });
});

test("mrlm serve refuses a port for an environment that it does not offer", async () => {
  const host = new LocalHost({ source: await PluginHost.of([]) });
  const sessions = new SessionTable(host);
  const servers = await serversOf({ httpPort: ["0", "maths=0"] });
  await expect(
    servers?.start("127.0.0.1", { host, sessions, sandboxes: {}, logger: silentLogger }),
  ).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("maths=0 names no environment") });
  await sessions.stop(0);
});

test("mrlm serve needs no dialect without --http-port", async () => {
  expect(await dialectServers({})).toBeUndefined();
});
