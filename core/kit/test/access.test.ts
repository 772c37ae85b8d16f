import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { Logger } from "@mrlm/spec";
import { createAuthority } from "@mrlm/testing";
import type { AccessFiles } from "../src/access/server-access.ts";
import { clientToken, openServerAccess, ServerTls, Tokens } from "../src/access.ts";
import { createHttpServer } from "../src/http.ts";
import { silentLogger } from "../src/silent-logger.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-access-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
const bearer = (token: string): string => `Bearer ${token}`;
const authority = createAuthority();

/** Opens the credentials of files that are read every 10 ms, with the log. */
function opened(files: AccessFiles, tokenGraceMs = 0) {
  const lines: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (line) => lines.push(line),
    warn: (line) => lines.push(`warn: ${line}`),
  };
  return { ...openServerAccess(files, { logger, isReloading: true, tokenGraceMs, intervalMs: 10 }), lines };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let left = 500; !isTrue(); left--) {
    if (left === 0) throw new Error("The condition has not become true.");
    await sleep(10);
  }
}

describe("tokens", () => {
  test("have the name of their client", () => {
    const tokens = new Tokens([
      { name: "alice", token: "a1" },
      { name: "bob", token: "b1" },
    ]);
    expect(tokens.holder(bearer("b1"))).toMatchObject({ name: "bob" });
    expect(Tokens.of("a1").holder(bearer("a1"))).toMatchObject({ name: undefined });
    // U13: the letter case of a scheme does not matter.
    for (const header of ["bearer b1", "BEARER b1", "Bearer  b1"])
      expect(tokens.holder(header)).toMatchObject({ name: "bob" });
    for (const header of [undefined, "", "a1", "Bearer a", "Bearer a11", "BearerX a1", "Bearer alice", "Bearer\ta1"])
      expect(tokens.holder(header)).toBeUndefined();
  });

  test("that are removed end after their time, once, and those that return stay", async () => {
    const tokens = new Tokens([
      { name: "alice", token: "a1" },
      { name: "bob", token: "b1" },
    ]);
    let expired = 0;
    tokens.onExpired(() => expired++);
    tokens.replace([{ name: "alice", token: "a2" }], 60);
    expect(tokens.holder(bearer("a1"))).toMatchObject({ name: "alice" });
    tokens.replace(
      [
        { name: "alice", token: "a2" },
        { name: "robert", token: "b1" },
      ],
      60_000,
    );
    expect(tokens.holder(bearer("b1"))).toMatchObject({ name: "robert" });
    await until(() => expired === 1);
    expect([tokens.holder(bearer("a1")), tokens.holder(bearer("b1"))]).toMatchObject([undefined, { name: "robert" }]);
    tokens.replace([], 0);
    expect([expired, tokens.holder(bearer("a2"))]).toEqual([2, undefined]);
  });

  test("of a file follow its changes; a missing or broken file keeps them, with a warning", async () => {
    const file = path("tokens");
    writeFileSync(file, "a1\n");
    const { tokens, lines, close } = opened({ tokens: file });
    const holds = (token: string): boolean => tokens?.holder(bearer(token)) !== undefined;
    writeFileSync(file, "alice a2\nbob b2\n");
    await until(() => holds("b2"));
    expect(holds("a1")).toBe(false);
    for (const [break_, reason] of [
      [() => rmSync(file), "there is no such file"],
      [() => writeFileSync(file, ""), "is empty"],
      [() => writeFileSync(file, "alice a3\nalice b3"), "line 2 has the same name as line 1"],
    ] as const) {
      const before = lines.length;
      break_();
      await until(() => lines.length > before);
      expect(lines.slice(before)).toEqual([expect.stringContaining(reason)]);
      expect(lines.at(-1)).toMatch(/^warn: .*The old tokens stay in use\.$/);
      expect([holds("a2"), holds("a3")]).toEqual([true, false]);
    }
    writeFileSync(`${file}.new`, "alice a4\n");
    renameSync(`${file}.new`, file);
    await until(() => holds("a4"));
    close();
    writeFileSync(file, "alice a5\n");
    await sleep(60);
    expect(holds("a5")).toBe(false);
  });

  test("of a client are one, with or without its name, and stay while the file is broken", () => {
    const file = path("client");
    writeFileSync(file, "alice a1\n");
    const token = clientToken(file);
    expect(token()).toBe("a1");
    writeFileSync(file, "");
    expect(token()).toBe("a1");
    writeFileSync(file, "a2");
    expect(token()).toBe("a2");
    writeFileSync(file, "alice a1\nbob b1\n");
    expect(token()).toBe("a2");
    expect(() => clientToken(file)).toThrow(/token of one client: it has 2 tokens/);
  });
});

describe("certificates", () => {
  /** Makes a request on a new connection. @returns the status and the certificate of the server */
  async function get(port: number, own: object = {}): Promise<readonly [number | undefined, string]> {
    const sent = request({ port, host: "127.0.0.1", ca: authority.cert, agent: false, ...own }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
    response.resume();
    return [response.statusCode, fingerprint256];
  }

  test("of an HTTP server are replaced with both of their files, for new connections", async () => {
    const [first, second] = [authority.issue(), authority.issue()];
    const files = { cert: path("cert"), key: path("key") };
    writeFileSync(files.cert, first.cert);
    writeFileSync(files.key, first.key);
    const { tls, lines, close } = opened(files);
    const http = createHttpServer(1_000, tls);
    http.server.on("request", (_, response) => response.end());
    const { port } = await http.listen("127.0.0.1:0");
    const [status, fingerprint] = await get(port);
    expect(status).toBe(200);
    writeFileSync(files.cert, second.cert);
    await until(() => lines.length === 1);
    expect(lines[0]).toMatch(
      /^warn: The key file \S+ belongs to another certificate .*The old certificate stays in use\.$/,
    );
    expect((await get(port))[1]).toBe(fingerprint);
    writeFileSync(files.key, second.key);
    await until(() => lines.length === 3);
    expect((await get(port))[1]).not.toBe(fingerprint);
    await http.close(0);
    close();
  });

  test("that end within a week are reported", () => {
    const to = new Date(Date.now() + 6 * 86_400_000);
    const { cert, key } = authority.issue({ to });
    const files = { cert: path("old-cert"), key: path("old-key") };
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    const { lines, close } = opened(files);
    close();
    expect(lines).toEqual([expect.stringContaining(`${files.cert} expires on ${to.toISOString().slice(0, 10)}`)]);
  });

  test("are required of clients by a server with authorities", async () => {
    const http = createHttpServer(1_000, new ServerTls({ ...authority.issue(), ca: authority.cert }));
    http.server.on("request", (_, response) => response.end());
    const { port } = await http.listen("127.0.0.1:0");
    expect((await get(port, authority.issue({ usages: ["client"] })))[0]).toBe(200);
    for (const own of [{}, createAuthority("another").issue()])
      await expect(get(port, own)).rejects.toMatchObject({ code: expect.stringMatching(/ECONNRESET|ALERT/) });
    await http.close(0);
  });
});
