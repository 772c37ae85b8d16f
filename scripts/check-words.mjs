// node scripts/check-words.mjs [PATH...]: finds phrases that the writing style of CONTRIBUTING.md rules out, with what to write instead.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lib/repository.mjs";
import { ScriptError, script } from "./lib/script.mjs";
import { phrasesIn } from "./lib/words.mjs";

/** Files that hold the phrases themselves, generated code, recorded data, texts of debates, and messages of customers. */
const ignored =
  /^(?:scripts\/(?:lib|test)\/words(?:\.test)?\.mjs|.*\/(?:gen|fixtures|phrases)\/.*|examples\/improve\/(?:support\.eval\.ts|promptfooconfig\.yaml)|environments\/debate\/src\/(?:stock-arguments|worked-debate)\.ts)$/;

await script(async () => {
  const paths = process.argv.slice(2);
  const extensions = ["ts", "mjs", "js", "py", "md", "proto", "yaml", "yml"].map((extension) => `*.${extension}`);
  const files = execFileSync("git", ["ls-files", ...(paths.length > 0 ? paths : extensions)], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((path) => /\.(?:ts|mjs|js|py|md|proto|ya?ml)$/.test(path) && !ignored.test(path));
  let found = 0;
  for (const path of files) {
    for (const { line, phrase, instead } of phrasesIn(path, readFileSync(join(root, path), "utf8"))) {
      found++;
      console.log(`${path}:${line}: "${phrase}": write ${instead}`);
    }
  }
  if (found > 0) throw new ScriptError(`${found} phrases that the writing style rules out`);
});
