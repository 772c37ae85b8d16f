import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Tokens } from "../src/access.ts";
import { accessCheck, createHttpServer, type HttpError } from "../src/http.ts";

const TOTAL = 64;
let http: ReturnType<typeof createHttpServer>;
let port: number;
let sockets: Socket[] = [];

beforeEach(async () => {
  http = createHttpServer(30_000, undefined, TOTAL);
  const check = accessCheck({ tokens: Tokens.of("secret"), isLoopback: true });
  http.server.on("request", (request, response) => {
    try {
      check(request);
      response.end("welcome");
    } catch (error) {
      response.writeHead((error as HttpError).status).end();
    }
  });
  ({ port } = await http.listen("127.0.0.1:0"));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await http.close(0);
});

/** Opens a connection from an address of the loopback interface, and sends a text. */
async function open(localAddress: string, text = ""): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}
const request = (token: string): string =>
  `GET / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`;
const openCount = (): Promise<number> =>
  new Promise((resolve, reject) =>
    http.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
async function settled(count: number): Promise<void> {
  while ((await openCount()) !== count) await delay(5);
}
async function answer(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, "data")) as [Buffer];
  return String(bytes).split("\r\n")[0] as string;
}

test("U11: an address has an eighth of the connections without an accepted request; the newest client is served", async () => {
  for (let i = 0; i < 3 * TOTAL; i++) await open("127.0.0.1");
  await settled(TOTAL / 8);
  const honest = await open("127.0.0.1", request("secret"));
  expect(await answer(honest)).toBe("HTTP/1.1 200 OK");
  // Its connection no longer counts, and stays.
  for (let i = 0; i < TOTAL; i++) await open("127.0.0.1");
  await settled(TOTAL / 8 + 1);
  honest.write(request("secret"));
  expect(await answer(honest)).toBe("HTTP/1.1 200 OK");
});

test("U11: a request without the token frees no place, and many addresses have no more than all places", async () => {
  const refused = await open("127.0.0.1", request("wrong"));
  expect(await answer(refused)).toBe("HTTP/1.1 401 Unauthorized");
  for (let i = 0; i < TOTAL / 8; i++) await open("127.0.0.1");
  await settled(TOTAL / 8);
  if (process.platform !== "linux") return;
  for (let address = 2; address < 16; address++) for (let i = 0; i < TOTAL / 8; i++) await open(`127.0.0.${address}`);
  await settled(TOTAL);
  expect(await answer(await open("127.0.0.77", request("secret")))).toBe("HTTP/1.1 200 OK");
});
