import { confirm, isCancel } from "@clack/prompts";
import { MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { describeFindings } from "../console/check-report.ts";
import { progressBar } from "../console/progress-bar.ts";
import { table } from "../console/table.ts";
import type { PublishOptions } from "../declarations/publish.ts";
import { EXIT } from "../exit-codes.ts";
import { findPackage } from "../services/check-package.ts";
import { runForUser } from "../services/npm.ts";
import { examinePackage } from "../services/publish/examine-package.ts";
import { PROBLEMS } from "../services/publish/problem.ts";
import type { PackedFile } from "../services/publish/tarball.ts";

/** Examines a plugin, and publishes it by the user's npm. Returns the exit code: 4 where a problem remains. */
export async function publish(
  { console, directory }: CommandContext,
  target: string,
  args: PublishOptions,
): Promise<number> {
  const checked = findPackage(target, directory);
  const { name, version } = checked;
  const bar = progressBar(console, "publish", { isBrief: true });
  const { publishConfig } = checked.json as { readonly publishConfig?: { readonly tag?: string } };
  const namedTag = args.tag ?? publishConfig?.tag;
  const { problems, findings, packed } = await examinePackage(checked, {
    tag: namedTag,
    onStep: (step) => bar.update(0, 1, step),
  }).finally(() => bar.end());
  try {
    if (packed !== undefined) console.print(`${fileTable(packed.files)}\n`);
    for (const subject of new Set(findings.map((finding) => finding.subject)))
      console.print(
        `${describeFindings(
          subject,
          findings.filter((finding) => finding.subject === subject),
        )}\n`,
      );
    for (const { code, message } of problems) console.print(`problem ${code}: ${message}\n  ${PROBLEMS[code]}`);
    const tag = namedTag ?? "latest";
    const files = packed?.files.map(({ path, content }) => ({ path, bytes: content.length })) ?? [];
    console.emit({
      event: "examined",
      name,
      version,
      tag,
      files,
      problems: problems.map((problem) => ({ ...problem })),
    });
    if (problems.length > 0 || packed === undefined) {
      console.print(
        `${name} ${version} was not published: ${problems.length} problem${problems.length === 1 ? "" : "s"}.`,
      );
      return EXIT.unhealthy;
    }
    if (args.dryRun === true) {
      console.print(`${name} ${version} would be published with the tag ${tag}.`);
      return EXIT.ok;
    }
    if (args.yes !== true) await confirmed(`Publish ${name} ${version} with the tag ${tag}?`);
    // The tarball that was examined is the one that is sent. npm asks for one-time codes itself.
    const exitCode = await runForUser("npm", ["publish", packed.tarball, "--tag", tag], checked.directory);
    if (exitCode !== 0)
      throw new MrlmError("NPM_FAILED", `\`npm publish\` ended with exit code ${exitCode}.`, {
        hint: "Its output is above.",
      });
    console.emit({ event: "published", name, version, tag });
    return EXIT.ok;
  } finally {
    packed?.remove();
  }
}

function fileTable(files: readonly PackedFile[]): string {
  const sizes = files.map(({ path, content }) => [path, String(content.length)]);
  const sum = files.reduce((total, { content }) => total + content.length, 0);
  return table([["file", "bytes"], ...sizes, [`${files.length} files`, String(sum)]]);
}

async function confirmed(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new MrlmError("USAGE", "Nothing was published: there is no terminal to confirm it.", { hint: "Add --yes." });
  const answer = await confirm({ message: question, initialValue: false });
  if (isCancel(answer) || !answer) throw new MrlmError("CANCELLED", "Nothing was published.");
}
