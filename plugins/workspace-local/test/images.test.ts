import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Plugin } from "@mrlm/kit";
import type { Workspaces } from "@mrlm/spec";
import { barePluginContext } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { missingJail } from "./support/missing-jail.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-images-"));
const root = join(folder, "a, root:folder");
const providers: Workspaces[] = [];

async function make(given: object): Promise<Workspaces> {
  const parsed = await (plugin as Plugin).options?.["~standard"].validate(given);
  const made = await plugin.workspaces["linux"]?.(barePluginContext(), (parsed as { value: never }).value);
  providers.push(made as Workspaces);
  return made as Workspaces;
}

/** Copies programs of this machine with their libraries into a root folder. */
function makeRoot(programs: readonly string[]): void {
  const place = (path: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    execFileSync("cp", ["-L", path, join(root, path)]);
  };
  for (const program of programs) {
    const path = execFileSync("sh", ["-c", `command -v ${program}`])
      .toString()
      .trim();
    const libraries = execFileSync("ldd", [path]).toString().match(/\/\S+/g) ?? [];
    execFileSync("cp", ["-L", path, join(root, "usr/bin", program)]);
    for (const library of libraries) if (!existsSync(join(root, library))) place(library);
  }
}

beforeAll(() => {
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  symlinkSync("usr/bin", join(root, "bin"));
  makeRoot(["sh", "cat", "ls", "rm", "mkdir"]);
  mkdirSync(join(root, "etc/conf"), { recursive: true });
  writeFileSync(join(root, "etc/conf/name"), "image");
});
afterAll(async () => {
  await Promise.all(providers.map((provider) => provider.close()));
  rmSync(folder, { recursive: true, force: true });
});

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

(missingJail === undefined ? describe : describe.skip)(`images (${missingJail ?? "here"})`, () => {
  test("a root folder is the file system, and changes stay in the workspace, also after a snapshot", async () => {
    const workspaces = await make({ images: { own: root } });
    const workspace = await workspaces.open({ image: "own", files: { f: "1" } });
    const seen = await workspace.exec(
      "ls /usr/bin; cat /etc/conf/name; echo changed > /etc/conf/name; rm -r /etc/conf; mkdir /etc/conf; ls /etc/conf; cat f",
    );
    expect([text(seen.stdout), text(seen.stderr)]).toEqual(["cat\nls\nmkdir\nrm\nsh\nimage1", ""]);
    expect(await workspace.readFile("/etc/conf/name")).toBeUndefined();
    const name = await workspace.snapshot();
    const other = await workspaces.open({ image: "own" });
    expect(text(await other.readFile("/etc/conf/name"))).toBe("image");
    await other.restore(name);
    expect(text((await other.exec("ls /etc/conf; cat f; cat /bin/../etc/conf/name 2>&1")).stdout)).toMatch(/^1cat: /);
    const shell = await other.shell();
    expect(text((await shell.run("cd /etc && ls")).output)).toBe("conf\n");
    expect(readFileSync(join(root, "etc/conf/name"), "utf8")).toBe("image");
    await Promise.all([workspace.close(), other.close()]);
  });

  test("folders of the machine are read-only, with and without an image", async () => {
    const shown = join(folder, "shown, here");
    mkdirSync(shown);
    writeFileSync(join(shown, "f"), "shown");
    const workspaces = await make({ images: { own: root }, folders: { "/programs": shown } });
    for (const options of [{}, { image: "own" }]) {
      const workspace = await workspaces.open(options);
      const seen = await workspace.exec("cat /programs/f; echo changed > /programs/f; mkdir /other; rm -r /programs");
      expect(text(seen.stdout)).toBe("shown");
      expect(text(seen.stderr).match(/read-only file system|Read-only file system/g)?.length).toBeGreaterThan(1);
      await expect(workspace.writeFile("/programs/f", "2")).rejects.toMatchObject({ code: "DATA_INVALID" });
      await workspace.close();
    }
    expect(readFileSync(join(shown, "f"), "utf8")).toBe("shown");
    await expect(make({ folders: { "/programs": join(folder, "gone") } })).rejects.toThrow(/gone.*is no folder/);
    const parse = (name: string): unknown =>
      (plugin as Plugin).options?.["~standard"].validate({ folders: { [name]: shown } });
    for (const name of ["/usr", "/workspace", "/mrlm", "/a/b", "a", "/.."])
      expect(await parse(name)).toMatchObject({ issues: [expect.anything()] });
  });

  test("a tarball is unpacked once; what is no image is named with what to do", async () => {
    process.env["MRLM_CACHE"] = join(folder, "cache");
    execFileSync("tar", ["--create", "--file", join(folder, "image.tar"), "--directory", root, "."]);
    writeFileSync(join(folder, "no.tar"), "no tarball");
    const images = {
      tar: join(folder, "image.tar"),
      empty: folder,
      gone: join(folder, "gone"),
      broken: join(folder, "no.tar"),
    };
    const workspaces = await make({ images });
    const workspace = await workspaces.open({ image: "tar" });
    expect(text((await workspace.exec("cat /etc/conf/name")).stdout)).toBe("image");
    await workspace.close();
    for (const [image, message] of [
      ["empty", /has no \/bin\/sh/],
      ["gone", /does not exist/],
      ["broken", /cannot be unpacked/],
      ["unknown", /no image unknown/],
    ] as const)
      await expect(workspaces.open({ image })).rejects.toMatchObject({
        code: "OPTIONS_INVALID",
        message: expect.stringMatching(message),
      });
  });

  test("a kept snapshot stays for 30 days after its last use", async () => {
    process.env["MRLM_CACHE"] = join(folder, "cache");
    const kept = join(folder, "cache/snapshots");
    const age = (days: number): void => {
      const time = new Date(Date.now() - days * 86_400_000);
      for (const name of readdirSync(kept)) utimesSync(join(kept, name), time, time);
    };
    const restored = async (): Promise<string> => {
      const workspaces = await make({});
      const workspace = await workspaces.open();
      await workspace.restore("build");
      const content = text(await workspace.readFile("f"));
      await workspace.close();
      return content;
    };
    const workspace = await (await make({})).open({ files: { f: "kept" } });
    await workspace.snapshot({ key: "build" });
    await workspace.close();
    age(29);
    expect(await restored()).toBe("kept");
    // Its use made it new.
    expect(Date.now() - Math.min(...readdirSync(kept).map((name) => statSync(join(kept, name)).mtimeMs))).toBeLessThan(
      86_400_000,
    );
    age(31);
    await expect(restored()).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
    expect(readdirSync(kept)).toEqual([]);
  });

  test("nothing of a provider remains after kill -9 of its process", async () => {
    const file = fileURLToPath(new URL("support/killed.ts", import.meta.url));
    const child = spawn(process.execPath, ["--conditions=mrlm-source", file], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: folder },
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const left = (): string[] => [
      ...readdirSync(folder).filter((name) => name.startsWith("mrlm-workspaces-")),
      ...readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && readCommand(pid).includes("610.25")),
    ];
    expect(left().length).toBeGreaterThan(2);
    child.kill("SIGKILL");
    while (left().length > 0) await delay(20);
  });
});

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
