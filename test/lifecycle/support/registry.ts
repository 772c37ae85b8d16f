import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../../benchmarks/ports/free-port.ts";
import { ROOT, run, userEnvironment } from "./program.ts";

const VERSION = "6.10.4";

/** A registry on the loopback interface, and the environment of an author who may publish in it. */
export class Registry {
  readonly address: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #process: ChildProcess;

  private constructor(address: string, env: NodeJS.ProcessEnv, child: ChildProcess) {
    this.address = address;
    this.env = env;
    this.#process = child;
  }

  /** Starts an empty registry in a folder. It takes packages that were not published in it from the registry of the user's npm. */
  static async start(folder: string): Promise<Registry> {
    const program = await installVerdaccio();
    const uplink = (await run("npm", ["config", "get", "registry"], ROOT, userEnvironment())).trim();
    mkdirSync(folder, { recursive: true });
    const config = join(folder, "config.yaml");
    writeFileSync(config, configOf(folder, uplink));
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const child = spawn(process.execPath, [program, "--config", config, "--listen", `127.0.0.1:${port}`], {
      cwd: folder,
      env: userEnvironment(),
      stdio: "ignore",
    });
    await answered(`${address}/-/ping`, child);
    const npmrc = join(folder, "npmrc");
    writeFileSync(
      npmrc,
      `registry=${address}/\n//127.0.0.1:${port}/:_authToken=${await tokenOf(address)}\naudit=false\nfund=false\nupdate-notifier=false\n`,
    );
    return new Registry(
      address,
      userEnvironment({ npm_config_userconfig: npmrc, npm_config_cache: join(folder, "cache") }),
      child,
    );
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "close");
    this.#process.kill();
    await ended;
  }
}

/** Installs verdaccio below node_modules/.cache, once, and returns its program. The repository does not depend on it. */
async function installVerdaccio(): Promise<string> {
  const folder = join(ROOT, "node_modules/.cache/mrlm", `verdaccio-${VERSION}`);
  const program = join(folder, "node_modules/verdaccio/bin/verdaccio");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  // A dependency asks for the tag "cjs" of node-fetch, which a mirror of the registry may lack.
  const manifest = { private: true, dependencies: { verdaccio: VERSION }, overrides: { "node-fetch": "2.7.0" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], folder, userEnvironment());
  return program;
}

function configOf(folder: string, uplink: string): string {
  const own = { access: "$all", publish: "$authenticated" };
  // JSON is YAML.
  return JSON.stringify({
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "htpasswd"), algorithm: "bcrypt", rounds: 4 } },
    uplinks: { npm: { url: uplink, timeout: "60s" } },
    packages: { "@mrlm/*": own, "create-mrlm": own, "mrlm-*": own, "**": { ...own, proxy: "npm" } },
    max_body_size: "50mb",
    web: { enable: false },
    log: { type: "stdout", level: "warn" },
  });
}

async function answered(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`verdaccio ended with exit code ${child.exitCode}.`);
    if ((await fetch(url).catch(() => undefined))?.ok === true) return;
    await sleep(100);
  }
}

async function tokenOf(address: string): Promise<string> {
  const response = await fetch(`${address}/-/user/org.couchdb.user:author`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "author", password: "of-this-test-only" }),
  });
  return ((await response.json()) as { token: string }).token;
}
