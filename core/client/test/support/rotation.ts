import { randomBytes, X509Certificate } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { silentLogger } from "@mrlm/kit/service";
import { clientIdentity, clientToken, openServerAccess } from "@mrlm/kit/access";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import type { Action, RandomStream } from "@mrlm/spec";
import { connectEnvironments } from "../../src/index.ts";
import { countingPlugin } from "./counting-plugin.ts";
import { authority } from "./handshake-faults.ts";

/** Outcome of rotations under clients that step without a pause. */
export interface RotationOutcome {
  /** Errors of clients, which there must be none of. */
  readonly errors: readonly unknown[];
  readonly steps: number;
  /** Connections that a client opened with a token that had ended: all of them must be refused. */
  readonly refusedTokens: number;
  /** Certificates that new connections received. */
  readonly certificates: number;
  /** Warnings of the server about files that were incomplete or broken. */
  readonly warnings: number;
}

const POLL_MS = 20;
const GRACE_MS = 300;
const STEP: Action = {
  agent: "agent",
  message: { role: "assistant", parts: [{ type: "text", text: "next" }] },
  finishReason: "stop",
};

/**
 * Replaces tokens and certificates of a server with mutual TLS while its clients step. Each replacement writes files in place, renames new ones or links to them, in a
 * random order, and is sometimes broken or cut off at first. Every client checks the order of its steps.
 */
export async function rotate(random: RandomStream, clients: number, rotations: number): Promise<RotationOutcome> {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-rotation-"));
  const at = (name: string): string => join(folder, name);
  const files = { tokens: at("tokens"), cert: at("cert"), key: at("key"), clientCa: at("authority") };
  const own = { token: at("own-token"), cert: at("own-cert"), key: at("own-key") };
  let links = 0;
  let token = writeCredentials();
  writeFileSync(files.clientCa, authority.cert);

  /** Writes one file in one of the ways in which operators do. */
  function put(path: string, content: string): void {
    const how = random.pick(["in place", "rename", "link"]);
    if (how === "in place") return writeFileSync(path, content);
    const file = how === "rename" ? `${path}.new` : `${path}.${++links}`;
    writeFileSync(file, content);
    // A mounted secret of Kubernetes is a link, which is replaced.
    if (how === "link") symlinkSync(file, `${path}.new`);
    renameSync(`${path}.new`, path);
  }

  /** Replaces all credentials. @returns the new token and the fingerprint of the new certificate */
  function writeCredentials(): { readonly token: string; readonly fingerprint: string } {
    const next = randomBytes(16).toString("hex");
    const [server, client] = [authority.issue({ usages: ["server"] }), authority.issue({ usages: ["client"] })];
    const writes: (readonly [string, string])[] = [
      [files.tokens, `other ${randomBytes(16).toString("hex")}\nclient ${next}\n`],
      [files.cert, server.cert],
      [files.key, server.key],
      [own.token, `client ${next}\n`],
      [own.cert, client.cert],
      [own.key, client.key],
    ];
    for (const [path, content] of random.shuffle(writes)) put(path, content);
    return { token: next, fingerprint: new X509Certificate(server.cert).fingerprint256 };
  }

  let warnings = 0;
  const logger = { ...silentLogger, warn: () => void warnings++ };
  const access = openServerAccess(files, { logger, isReloading: true, tokenGraceMs: GRACE_MS, intervalMs: POLL_MS });
  const host = new LocalHost({ source: await PluginHost.of([countingPlugin]) });
  const server = await serveEnvironments({ host, address: "127.0.0.1:0", ...access });
  const address = `127.0.0.1:${server.port}`;
  const tls = clientIdentity({ ca: files.clientCa, cert: own.cert, key: own.key });
  const { signal } = new AbortController();
  const errors: unknown[] = [];
  let steps = 0;
  const ending = new AbortController();

  async function play(index: number): Promise<void> {
    const remote = await connectEnvironments(address, {
      transport: index % 4 === 3 ? "unary" : "stream",
      token: clientToken(own.token),
      tls,
    });
    try {
      const session = await remote.open({ id: "counting" });
      await session.reset({ seed: index, signal });
      for (let step = 0; !ending.signal.aborted; step++, steps++) {
        const { observation } = await session.step(STEP, { signal });
        const [part] = observation?.messages[0]?.parts ?? [];
        if (part?.type !== "text" || part.text !== `step ${step}`)
          throw new Error(`The client ${index} got ${JSON.stringify(part)} for step ${step}.`);
        await sleep(1);
      }
      await session.close();
    } finally {
      await remote.close();
    }
  }

  const playing = Promise.all(
    Array.from({ length: clients }, (_, i) => play(i).catch((error: unknown) => errors.push(error))),
  );
  const seen = new Set<string>();
  let refusedTokens = 0;
  for (let rotation = 0; rotation < rotations; rotation++) {
    const before = steps;
    await until(() => steps >= before + clients || errors.length > 0);
    const old = token.token;
    if (random.integer(0, 2) === 0) {
      put(random.pick([files.tokens, files.cert, files.key]), random.pick(["", "-----BEGIN", "a b c\n"]));
      await sleep(4 * POLL_MS);
    }
    token = writeCredentials();
    await until(async () => (await fingerprint(server.port, tls())) === token.fingerprint);
    seen.add(token.fingerprint);
    const refusal = async (): Promise<unknown> =>
      connectEnvironments(address, { token: old, tls }).then(
        (other) => other.close(),
        (error: unknown) => (error as { code?: string }).code,
      );
    await until(async () => (await refusal()) === "UNAUTHENTICATED");
    refusedTokens++;
  }
  ending.abort();
  await playing;
  await server.close();
  access.close();
  rmSync(folder, { recursive: true });
  return { errors, steps, refusedTokens, certificates: seen.size, warnings };
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 500; !(await isTrue()); left--) {
    if (left === 0) throw new Error("The condition has not become true.");
    await sleep(POLL_MS);
  }
}

/** Returns the fingerprint of the certificate that a new connection receives. */
async function fingerprint(port: number, identity: object): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1", ...identity, ALPNProtocols: ["h2"] }, () =>
    resolve(socket.getPeerCertificate().fingerprint256),
  );
  socket.on("error", reject);
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
