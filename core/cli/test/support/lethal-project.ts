import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Ways in which a step of `lethal@1` ends or harms its process, by the text of its action. */
export const LETHAL = {
  exit: "process.exit(7)",
  abort: "process.abort()",
  kill: "process.kill(process.pid, 'SIGKILL'); for (;;);",
  spin: "for (;;);",
  heap: "const all = []; for (;;) all.push(new Array(10_000).fill(all.length));",
  buffers:
    "const all = []; for (;;) { all.push(Buffer.alloc(1 << 24, 1)); await new Promise((r) => setTimeout(r, 1)); }",
  throw: "setTimeout(() => { throw new Error('thrown later'); }, 1); await new Promise(() => {});",
  reject: "Promise.reject(new Error('rejected later')); await new Promise(() => {});",
  exitLater: "await new Promise((r) => setTimeout(r, 5)); process.exit(7);",
  busy: "const end = performance.now() + 800; while (performance.now() < end);",
  print: "for (let i = 0; i < 100; i++) process.stdout.write('x'.repeat(1 << 20) + '\\n');",
} as const;

const environment = (id: string, lethal: boolean): string => `{
  id: "${id}@1", description: "", determinism: "full", deadlines: { stepMs: 1000 },
  create: () => {
    let count = 0;
    const observe = (text) => ({ agent: "agent", messages: [{ role: "user", parts: [{ type: "text", text }] }] });
    return {
      async reset() { count = 0; return observe("start"); },
      async step(action) {
        const text = action.message.parts[0].text;
        ${
          lethal
            ? Object.entries(LETHAL)
                .map(([name, code]) => `if (text === "${name}") { ${code} }`)
                .join("\n        ")
            : ""
        }
        if (text === "slow") await new Promise((r) => setTimeout(r, 20));
        if (text === "forever") await new Promise(() => {});
        return { observation: observe("step " + count++), rewards: { agent: { scored: true, value: 1, components: {} } }, terminated: { agent: false }, truncated: { agent: false } };
      },
    };
  },
}`;

/** Version of the plugin of a project. */
interface Version {
  readonly version?: string;
  readonly apiVersion?: number;
  /** Code at its import. */
  readonly before?: string;
  /** Beginning of the observations of `calm@1`. */
  readonly word?: string;
}

/** Makes a project with a plugin that has a harmless environment, `calm@1`, and one that ends its process. */
export function lethalProject(version: Version = {}): string {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-lethal-"));
  mkdirSync(join(directory, "node_modules", "lethal"), { recursive: true });
  writeFileSync(
    join(directory, "package.json"),
    JSON.stringify({ name: "project", version: "1.0.0", dependencies: { lethal: "1.2.3" } }),
  );
  writeVersion(directory, version);
  return directory;
}

/** Replaces the plugin of such a project. */
export function writeVersion(directory: string, given: Version): void {
  const { version = "1.2.3", apiVersion = 1, before = "", word = "step" } = given;
  const folder = join(directory, "node_modules", "lethal");
  const calm = environment("calm", false).replace('"step "', JSON.stringify(`${word} `));
  writeFileSync(
    join(folder, "index.js"),
    `${before}\nexport default { apiVersion: 1, name: "lethal", environments: [${calm}, ${environment("lethal", true)}] };\n`,
  );
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({
      name: "lethal",
      version,
      type: "module",
      mrlm: { apiVersion, entry: "./index.js", provides: ["environment:calm@1", "environment:lethal@1"] },
    }),
  );
}
