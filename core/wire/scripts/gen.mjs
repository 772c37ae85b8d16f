// npm run gen [-- --check]: message code and descriptors from ../../protos into src/gen. With --check nothing is written, and a difference fails.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..");
const protos = join(folder, "..", "..", "protos");
const committed = join(folder, "src", "gen");
const work = mkdtempSync(join(tmpdir(), "mrlm-gen-"));
try {
  const fresh = join(work, "src", "gen");
  mkdirSync(fresh, { recursive: true });
  buf("generate", protos, "--template", join(folder, "buf.gen.yaml"), "-o", work);
  writeFileSync(join(fresh, "descriptors.ts"), descriptors(join(work, "descriptors.binpb")));
  if (process.argv.includes("--check")) check(fresh);
  else {
    rmSync(committed, { recursive: true, force: true });
    cpSync(fresh, committed, { recursive: true });
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** @param {string[]} args */
function buf(...args) {
  execFileSync("buf", args, { cwd: folder, stdio: "inherit" });
}

/** Returns the schema as server reflection hands it out: a FileDescriptorSet without comments. @param {string} file */
function descriptors(file) {
  buf("build", protos, "--exclude-source-info", "--as-file-descriptor-set", "-o", file);
  const lines =
    readFileSync(file)
      .toString("base64")
      .match(/.{1,140}/g) ?? [];
  return [
    "// Generated from protos/ by `npm run gen`. DO NOT EDIT.",
    "/** google.protobuf.FileDescriptorSet of every protocol file, in base64. */",
    `export const FILE_DESCRIPTOR_SET =\n  ${lines.map((line) => `"${line}"`).join(" +\n  ")};`,
    "",
  ].join("\n");
}

/** @param {string} fresh */
function check(fresh) {
  const files = (/** @type {string} */ root) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  const differing = [...new Set([...files(fresh), ...files(committed)])].filter(
    (file) => read(fresh, file) !== read(committed, file),
  );
  if (differing.length === 0) return;
  console.error(`core/wire/src/gen differs from protos/ in: ${differing.join(", ")}. Run: npm run gen`);
  process.exitCode = 1;
}

/** @param {string} root @param {string} file */
function read(root, file) {
  try {
    return readFileSync(join(root, file), "utf8");
  } catch {
    return undefined;
  }
}
