import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Mrlm, ROOT } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();
const modules = join(ROOT, "node_modules");

/** Unpacks the plugin that was built against 0.1.0 into a folder, with its own copies of some packages of the repository, at another version. */
function unpack(name: string, copies: readonly string[]): string {
  const directory = join(folder, name);
  const own = join(directory, "node_modules");
  mkdirSync(join(own, "@mrlm"), { recursive: true });
  const archive = join(ROOT, "core/testing/fixtures/built/mrlm-letters-0.1.0.tgz");
  execFileSync("tar", ["xzf", archive, "--strip-components=1", "-C", directory]);
  for (const each of readdirSync(modules).filter((entry) => !entry.startsWith(".") && entry !== "@mrlm"))
    symlinkSync(join(modules, each), join(own, each));
  for (const each of readdirSync(join(modules, "@mrlm"))) {
    const place = join(own, "@mrlm", each);
    if (copies.includes(each)) copyPackage(join(modules, "@mrlm", each), place);
    else symlinkSync(join(modules, "@mrlm", each), place);
  }
  return directory;
}

function copyPackage(source: string, target: string): void {
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as object;
  cpSync(join(source, "dist"), join(target, "dist"), { recursive: true });
  writeFileSync(join(target, "package.json"), JSON.stringify({ ...manifest, version: "0.1.99" }));
}

test.concurrent.each([
  ["shares the packages of mrlm", []],
  ["has spec and kit of another version", ["spec", "kit"]],
])(
  "the plugin that was built against 0.1.0 passes its check: it %s",
  async (_, copies) => {
    const directory = unpack(copies.join("-") || "shared", copies);
    const { code, stdout, events } = await new Mrlm(["check", directory, "--quick", "--json"]).finished;
    expect({ code, findings: events.filter(({ event }) => event === "finding") }).toEqual({ code: 0, findings: [] });
    expect(JSON.parse(stdout.trim().split("\n").at(-1) as string)).toMatchObject({
      ...{ event: "check", name: "mrlm-letters", parts: ["package", "environment:letters@1"] },
    });
  },
  60_000,
);
