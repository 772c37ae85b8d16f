import { answerPlace } from "@mrlm/kit";
import { dataFile, workspaceLimits } from "@mrlm/kit/options";
import { z } from "zod";

/** Longest times of an episode, in seconds. The deadlines of the host are above them. */
const MAX_SECONDS = 7_200;
const MAX_TOTAL_SECONDS = 14_400;
/** Services by which a score is made. */
const BY = ["command", "scorer", "judge"] as const;

const score = z
  .strictObject({
    command: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Command in the files of the program after its end. The folder $SCORE has `answer` of the row, `output` of the program, and `files`. It follows the links that the program left: state `file`, and read `output`",
      ),
    files: z.string().min(1).optional().describe("Folder that is copied to $SCORE"),
    reads: z
      .enum(["exit", "number"])
      .default("exit")
      .describe(
        "exit: the largest of `range` for the exit code 0, else the least; number: the last line that the command prints",
      ),
    scorer: z.string().min(1).optional().describe("Scorer of the output of the program, such as math@2"),
    judge: z.string().min(1).optional().describe("Judge of the output of the program, such as llm@2"),
    schema: answerPlace.default("text").describe("Place of the answer for the scorer; text is the whole output"),
    options: z.record(z.string(), z.json()).optional().describe("Options of the scorer or the judge"),
    file: z
      .string()
      .min(1)
      .optional()
      .describe(
        "File of the workspace that is the output, of at most 1 MiB; default: stdout. A link, a missing or a larger one is an empty text",
      ),
    of: z
      .enum(["returned", "all"])
      .default("returned")
      .describe("Programs that are graded. Those that end with an error, or by a limit, earn the least without `all`"),
    range: z.tuple([z.number(), z.number()]).default([0, 1]).describe("Least and largest reward"),
  })
  .superRefine((given, context) => {
    if (BY.filter((name) => given[name] !== undefined).length !== 1)
      context.addIssue({ code: "custom", message: "must have one of command, scorer and judge", input: given });
  });

/** Options of `agent@1`. */
export const agentOptions = z.strictObject({
  command: z.string().min(1).describe("Command of the program, by /bin/sh in /workspace. Its input is the instruction"),
  data: dataFile.describe(
    "Tasks: rows with instruction, and answer and files where the score and the program need them",
  ),
  score,
  image: z
    .string()
    .min(1)
    .optional()
    .describe("Image of the provider of workspaces; default: the host's system folders"),
  files: z.string().min(1).optional().describe("Folder that is copied to /workspace"),
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable"), z.string()).default({}),
  setup: z.string().min(1).optional().describe("Command before the program"),
  address: z
    .enum(["http", "socket"])
    .default("http")
    .describe("http: a loopback port, for which the base needs python3 or node; socket: /mrlm/socket alone"),
  limits: z
    .strictObject({
      calls: z.int().min(1).max(10_000).default(100).describe("Calls of the model"),
      call_tokens: z.int().min(1).optional().describe("Tokens of an answer; default: those of the run"),
      seconds: z
        .number()
        .positive()
        .max(MAX_SECONDS)
        .default(300)
        .describe("Of the program between an answer and its next call; of setup and of the score"),
      total_seconds: z
        .number()
        .positive()
        .max(MAX_TOTAL_SECONDS)
        .default(1_800)
        .describe("Of the program, without its waits for the policy"),
    })
    .prefault({}),
  workspace: workspaceLimits.omit({ timeout_ms: true }).prefault({}).describe("Limits of the workspace"),
  task_seed: z.int().default(0).describe("Another seed divides the tasks in another way"),
});

/** Parsed options of `agent@1`. */
export type AgentOptions = z.output<typeof agentOptions>;

/** Deadline of the host for a reset and for a step, in milliseconds: the limits of the episode end before it. */
export const DEADLINE_MS = (MAX_TOTAL_SECONDS + 2 * MAX_SECONDS) * 1_000;
