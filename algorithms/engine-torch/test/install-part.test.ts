import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { installPart } from "../src/setup/install-part.ts";
import { lockFiles, parseExtras, type Part } from "../src/setup/lock-files.ts";
import { cpuBuild, indexBuild, LOCKED, type TorchBuild } from "../src/torch/torch-build.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { writeLocks } from "./support/wheels.ts";

const root = temporaryDirectory();
const locks = join(root, "locks");
writeLocks(locks, {});

async function argumentsFor(part: Part, build: TorchBuild): Promise<readonly string[]> {
  let seen: readonly string[] = [];
  const pip = async (_: string, args: readonly string[]) => (
    (seen = args),
    { code: 0, signal: null, stdout: "", stderr: "" }
  );
  await installPart(part, {
    executable: "python",
    lock: lockFiles(locks),
    build,
    pip,
    logFile: join(root, "log"),
    progress: () => {},
  });
  return seen;
}

test("what the lock files name is held to its hashes, and nothing is ever compiled", async () => {
  const base = await argumentsFor("base", cpuBuild());
  expect(base).toEqual(expect.arrayContaining(["--require-hashes", "--no-deps", join(locks, "base.lock")]));
  expect(base.join(" ")).toContain("--only-binary :all:");
  expect(await argumentsFor("torch", LOCKED)).toContain(join(locks, "torch.lock"));
});

test("the CPU build comes alone: its Python dependencies are locked, and it has no others", async () => {
  expect((await argumentsFor("torch", cpuBuild())).slice(-2)).toEqual(["--no-deps", "torch==2.13.0+cpu"]);
  expect((await argumentsFor("torch", cpuBuild("https://mirror"))).join(" ")).toContain(
    "--index-url https://mirror torch==2.13.0+cpu",
  );
});

test("a build from the user's index brings what it needs from there", async () => {
  const args = await argumentsFor("torch", indexBuild("https://mirror/cu128"));
  expect(args.slice(-3)).toEqual(["--index-url", "https://mirror/cu128", "torch==2.13.0"]);
  expect(args).not.toContain("--no-deps");
});

test("extras are known by name", () => {
  expect(parseExtras(["dev", "lora", "dev"])).toEqual(["lora", "dev"]);
  expect(() => parseExtras(["deb"])).toThrow(
    expect.objectContaining({ code: "OPTIONS_INVALID", hint: "There are: lora, dev." }),
  );
});
