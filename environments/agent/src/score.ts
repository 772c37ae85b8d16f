import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import { type JsonObject, MrlmError, type Reward, score, SINGLE_AGENT, textMessage, unscored } from "@mrlm/kit";
import { type AgentEnding, howEnded } from "@mrlm/kit/agent";
import { folderFiles, writeFiles } from "@mrlm/kit/service";
import type { AgentOptions } from "./options.ts";
import type { Workspace } from "@mrlm/spec";
import type { Program } from "./program.ts";
import type { Hidden, Shown } from "./tasks.ts";

type Ending = AgentEnding<AgentOptions, Shown, Hidden, Program>;

/** Exit codes of a shell for a command that cannot be run. */
const NOT_RUN = [126, 127];
/** Size of a file that is graded. */
const MAX_BYTES = 1 << 20;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Grades a program when none of its processes runs; `undefined` for one that `of` leaves out. */
export async function scoreAgent(ending: Ending): Promise<Reward | undefined> {
  const { options, end, opened } = ending;
  const { of, range } = options.score;
  try {
    // A limit ends the program while this begins.
    await opened.space.ended();
    if (end.kind !== "returned" && of === "returned") return undefined;
    const reward = await rewardOf(ending);
    const isOutside = reward.scored && (reward.value < range[0] || reward.value > range[1]);
    return isOutside ? failed(`The reward ${reward.value} is outside of \`score.range\`.`) : reward;
  } finally {
    await opened.space.workspace.close();
  }
}

async function rewardOf(ending: Ending): Promise<Reward> {
  const { options, task, context, calls, opened, signal } = ending;
  const { command, file, scorer, judge, schema, options: own } = options.score;
  const question = task.public.instruction;
  const answer = file === undefined ? opened.stdout : await readOutput(opened.space.workspace, file);
  if (command !== undefined) return commandReward(ending, command, answer);
  if (scorer !== undefined) {
    const given = { answer, expected: task.private.answer ?? "", schema, question, signal };
    return (await context.scorer(scorer).score({ ...given, ...(own !== undefined && { options: own as JsonObject }) }))
      .reward;
  }
  const agent = calls[0]?.agent ?? SINGLE_AGENT;
  const turns = [{ agent, message: textMessage("assistant", answer) }];
  const request = { question, turns, agents: [agent], task, ...(own !== undefined && { options: own as JsonObject }) };
  const { rewards } = await context.judge(judge as string).judge(request, { signal });
  return rewards[agent] ?? failed(`The judge returned no reward for the agent ${agent}.`);
}

/** Returns the text of a file that the program left; empty where that is no regular file of at most 1 MiB, which a wrong answer is. */
async function readOutput(workspace: Workspace, file: string): Promise<string> {
  const entries = await workspace.list(posix.dirname(file));
  const entry = entries?.find(({ name }) => name === posix.basename(file));
  if (entry?.type !== "file" || entry.bytes > MAX_BYTES) return "";
  return Buffer.from((await workspace.readFile(file)) ?? []).toString();
}

/** Runs the command of a score. What cannot be run, or meets a limit, is unscored. */
async function commandReward({ options, task, context, opened, signal }: Ending, command: string, output: string) {
  const { files, reads, range } = options.score;
  const { workspace } = opened.space;
  const copied = files === undefined ? [] : await folderFiles(context.dataPath(files));
  // The program may have left links to files with known names.
  const folder = `/tmp/score-${randomBytes(8).toString("hex")}`;
  try {
    await writeFiles(workspace, folder, copied);
    await workspace.writeFile(`${folder}/output`, output);
    if (task.private.answer !== undefined) await workspace.writeFile(`${folder}/answer`, task.private.answer);
  } catch (error) {
    // The program has filled the disk.
    if (MrlmError.hasCode(error, "DATA_INVALID")) return score(range[0]);
    throw error;
  }
  const result = await workspace.exec(
    // Modules that the program installed for its user would run in every Python program of the score.
    `echo ${folder} >&2; export PYTHONNOUSERSITE=1 SCORE=${folder}\n${command}`,
    { timeoutMs: options.limits.seconds * 1_000, signal },
  );
  const { exitCode, stdout } = result;
  const printed = Buffer.from(result.stderr).toString();
  // A jail that could not be made has the exit code 1 too.
  const hasStarted = printed.startsWith(folder);
  const how = howEnded({ ...result, stderr: Buffer.from(printed.replace(folder, "")) });
  if (!hasStarted || exitCode === null || NOT_RUN.includes(exitCode))
    return failed(`The command of the score was not run to its end: it ${how}`);
  if (reads === "exit") return score(range[exitCode === 0 ? 1 : 0]);
  const last = Buffer.from(stdout).toString().trim().split("\n").at(-1)?.trim() ?? "";
  if (NUMBER.test(last) && Number.isFinite(Number(last))) return score(Number(last));
  return failed(`The last line of the command of the score is no number: it ${how}`);
}

function failed(message: string): Reward {
  return unscored("SCORER_FAILED", message);
}
