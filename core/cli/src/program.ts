import { Command, Help, Option } from "commander";
import type { CommandContext } from "./command-context.ts";
import type { CheckArguments } from "./commands/check.ts";
import type { CollectArguments } from "./commands/collect.ts";
import type { CreateOptions } from "./commands/create.ts";
import type { SetupArguments } from "./commands/engine.ts";
import type { EvalArguments } from "./commands/eval.ts";
import type { InfoArguments } from "./commands/info.ts";
import type { JoinArguments } from "./commands/join.ts";
import type { PublishArguments } from "./commands/publish.ts";
import type { QueryArguments } from "./commands/query.ts";
import type { RenderArguments } from "./commands/render.ts";
import type { ReplayArguments } from "./commands/replay.ts";
import type { ScoreArguments } from "./commands/score.ts";
import type { ReportArguments } from "./commands/report.ts";
import type { ShowArguments } from "./commands/show.ts";
import type { TrainArguments } from "./commands/train.ts";
import type { UiArguments } from "./commands/ui.ts";
import type { VerifyArguments } from "./commands/verify.ts";
import { createConsole, type OutputStreams } from "./console/console.ts";
import { declarePlugins } from "./declarations/plugins.ts";
import { declareServe } from "./declarations/serve.ts";
import { declareWorkers } from "./declarations/workers.ts";
import {
  ENVIRONMENT_FLAG,
  MODEL_FLAG,
  OPTIONS_FLAG,
  POLICY_FLAG,
  setFlag,
  withRolloutFlags,
  repeated,
} from "./declarations/flags.ts";
import { VERSION } from "./version.ts";

const JSON_FLAG = ["--json", "results as one JSON object a line on stdout"] as const;

/** Command line with its commands and flags. */
export interface Program {
  readonly command: Command;
  /** Creates the context of a command from the global options. */
  context(): CommandContext;
}

/**
 * Declares every command in the order of the help. Each action imports its module when it runs, so that no command loads the code of another.
 * @param finish receives an exit code other than 0 that is no error
 */
export function createProgram(
  finish: (exitCode: number) => void,
  { stdout, stderr }: OutputStreams = process,
): Program {
  const program = new Command("mrlm")
    .description("Reinforcement learning of language models in environments written in TypeScript")
    .version(VERSION, "-V, --version")
    .option(...JSON_FLAG)
    .configureHelp({
      optionDescription: (option) => `${option.mandatory ? "(required) " : ""}${new Help().optionDescription(option)}`,
    })
    // run-cli.ts reports errors of the command line in the form of every other error.
    .configureOutput({ outputError: () => undefined, writeOut: (text) => void stdout.write(text) })
    .exitOverride();
  const context = (): CommandContext => ({
    console: createConsole({ json: program.opts<{ json?: boolean }>().json === true, stdout, stderr }),
    directory: process.cwd(),
  });

  program
    .command("train")
    .description("train as a configuration specifies, or continue a run")
    .option("--config <path>", "YAML configuration")
    .addOption(setFlag())
    .option("--output <directory>", "where the run directory is made")
    .option("--seed <number>", "instead of the configuration's")
    .option("--resume <path>", "run directory, or one of its checkpoints, to continue")
    .option(
      "--dry-run",
      "check everything, render some prompts, print how much memory the run would take, and train nothing",
    )
    .option("--steps <n>", "with --resume: of the last stage, instead of the configuration's, to make a run longer")
    .action(async (args: TrainArguments) => finish(await (await import("./commands/train.ts")).train(context(), args)));

  declareWorkers(program, context, finish);

  program
    .command("replay")
    .description(
      "learn again from the stored batches of a run, without playing, and compare the weights with the recorded checksums; changes nothing in the run",
    )
    .argument("<run>", "the run's directory")
    .requiredOption("--from <checkpoint>", "path or name of a checkpoint of the run, or start")
    .option("--out <directory>", "new directory for the replayed model and metrics; default: they are not kept")
    .action(async (run: string, args: ReplayArguments) =>
      finish(await (await import("./commands/replay.ts")).replay(context(), run, args)),
    );

  program
    .command("verify")
    .description("compare stored log-probabilities of a run with those of its kept weights; changes nothing in the run")
    .argument("<run>", "the run's directory")
    .option("--sample <n>", "how many segments of training episodes to verify", "100")
    .option("--seed <n>", "of the choice of segments", "0")
    .option("--tolerance <x>", "largest accepted difference in nats; default: 1e-4 for models in float32")
    .action(async (run: string, args: VerifyArguments) =>
      finish(await (await import("./commands/verify.ts")).verify(context(), run, args)),
    );

  program
    .command("join")
    .description(
      "run this machine's part of a run of several machines, which `mrlm train` starts on machine 0, until that run ends",
    )
    .requiredOption("--config <path>", "YAML configuration: the one that machine 0 trains with")
    .requiredOption("--node-rank <n>", "number of this machine: 1 for the second of distributed.nnodes")
    .action(async (args: JoinArguments) => finish(await (await import("./commands/join.ts")).join(context(), args)));

  withRolloutFlags(
    program
      .command("eval")
      .description(
        "play held-out tasks with a model: greedy accuracy, sampled reward, pass@k, with 95 % confidence intervals",
      ),
    "eval",
  )
    .option(
      "-n, --tasks <n>",
      "tasks to play, the first ones of the split: each once greedily, and --samples times sampled; default: 100",
    )
    .option("--num-episodes <n>", "the same as --tasks: greedy episodes, one for each task")
    .option("--samples <n>", "sampled episodes of each task, beside the greedy one", "1")
    .option("-o, --output <file>", "write the results to this file as JSON")
    .option("--overwrite", "replace that file if it exists")
    .action(async (args: EvalArguments) => (await import("./commands/eval.ts")).runEval(context(), args));

  withRolloutFlags(
    program
      .command("collect")
      .description(
        "play episodes with a model and write them to a JSONL or Parquet file, with their tokens, as training data of SFT and DPO",
      ),
    "train",
  )
    .requiredOption(
      "-o, --output <file>",
      "NAME.jsonl or NAME.parquet; NAME.partial holds the episodes until all are played, and the same command continues from it",
    )
    .option("-n, --num-episodes <n>", "episodes in all", "100")
    .option("--group-size <n>", "episodes of each task; DPO compares those of one task", "1")
    .option("--filter-reward <t>", "keep only scored episodes with at least this reward; the others are counted")
    .option("--overwrite", "start over, even if the file or an interrupted collection exists")
    .action(async (args: CollectArguments) => (await import("./commands/collect.ts")).runCollect(context(), args));

  program
    .command("show")
    .description(
      "print episodes of runs, of their evaluations, or of recorded files: conversation, reward with its components, end",
    )
    .argument(
      "<paths...>",
      "runs' directories, files of `mrlm eval --store` or of `mrlm collect`, or directories with files of `mrlm collect`",
    )
    .option("--task <id>", "only episodes of this task (eval/3) or split (eval)")
    .addOption(
      new Option("--best", "those with the highest reward, instead of the newest").conflicts(["worst", "failed"]),
    )
    .addOption(new Option("--worst", "those with the lowest reward").conflicts(["best", "failed"]))
    .addOption(new Option("--failed", "those that failed or have no score").conflicts(["best", "worst"]))
    .option("-n, --num-episodes <n>", "how many episodes", "3")
    .action(async (paths: readonly string[], args: ShowArguments) =>
      (await import("./commands/show.ts")).show(context(), paths, args),
    );

  program
    .command("query")
    .description(
      "print or write the rows of a SELECT over the episodes, batches and metrics of a run; docs/reference/store.md has the views",
    )
    .argument("<path>", "a run's directory, or an episode store")
    .argument("<sql>", 'one SELECT, for example "select run_step, avg(reward) from v_episodes group by run_step"')
    .option("--parquet <file>", "write the rows to this Parquet file instead of printing them")
    .option("--overwrite", "replace that file if it exists")
    .option("--limit <n>", "how many rows at most; default: 1000, with --parquet 1000000")
    .option("--timeout <seconds>", "end the query after this time", "60")
    .action(async (path: string, sql: string, args: QueryArguments) =>
      (await import("./commands/query.ts")).query(context(), path, sql, args),
    );

  program
    .command("render")
    .description("print the first prompt of a task as the model receives it, as text and as tokens; starts no engine")
    .requiredOption(...MODEL_FLAG)
    .option(...POLICY_FLAG)
    .requiredOption(...ENVIRONMENT_FLAG)
    .option("--task <id>", "split and number", "train/0")
    .option("--ids", "a table of the tokens with their ids")
    .option(...OPTIONS_FLAG)
    .option(
      "--config <path>",
      "configuration to take the environment's options from; default: that of the run which the model belongs to",
    )
    .addOption(setFlag())
    .option("--seed <n>", "of the environment; default: the configuration's, else 0")
    .action(async (args: RenderArguments) => (await import("./commands/render.ts")).render(context(), args));

  program
    .command("ui")
    .description("show runs in a browser: curves, findings, episodes, tokens")
    .argument("[runs...]", "runs, folders that hold runs, or files of `mrlm eval --store`; default: runs")
    .option("--port <port>", "0 for any free one", "8899")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--open", "open the page in the browser")
    .addOption(
      repeated(
        "--metrics <url>",
        "address of mrlm serve --metrics-port, for the page of servers; may be given several times",
      ),
    )
    .option("--token-file <path>", "file with a token that readers must know; or NAME TOKEN in each line")
    .option(
      "--token-grace-seconds <seconds>",
      "a token that is removed from --token-file stays valid for this time; default: 300",
    )
    .option("--tls-cert <path>", "serve with TLS: certificate in PEM form; read again when it changes")
    .option("--tls-key <path>", "private key of --tls-cert")
    .option("--tls-client-ca <path>", "mutual TLS: browsers must have a certificate of these authorities")
    .option("--insecure", "listen on a --host that other machines reach without a token or without TLS")
    .action(async (runs: readonly string[], args: UiArguments) =>
      (await import("./commands/ui.ts")).ui(context(), runs, args),
    );

  program
    .command("report")
    .description("write a run as one page that needs no other file: findings, curves, episodes")
    .argument("<run>", "directory of the run")
    .requiredOption("--html <path>", "file to write")
    .option("-n, --num-episodes <count>", "best, worst and failed episodes, each", "3")
    .action(async (run: string, args: ReportArguments) =>
      (await import("./commands/report.ts")).report(context(), run, args),
    );

  program
    .command("doctor")
    .description(
      "report likely problems of a run (finished, failed or under way), of an evaluation's results or of recorded episodes, and what to try",
    )
    .argument("<paths...>", "runs' directories, files of `mrlm eval --output`, or files of `mrlm collect`")
    .action(async (paths: readonly string[]) =>
      finish(await (await import("./commands/doctor.ts")).doctor(context(), paths)),
    );

  declareServe(program, context);

  program
    .command("create")
    .description("create the project of a plugin: sources, tests, and a configuration to train with")
    .argument("[kind]", "environment, tool, judge, scorer, policy or algorithm")
    .argument("[name]", "name of the npm package; its last part is the name of the folder")
    .option(
      "--from <path>",
      "take the packages of mrlm from a clone after `npm run build`, or from a folder of tarballs",
    )
    .option("--merge", "keep the files of a folder that is not empty, and add those that are missing")
    .option("--install", "install the packages with the package manager that runs this command")
    .action(async (kind: string | undefined, name: string | undefined, options: CreateOptions) =>
      (await import("./commands/create.ts")).createPlugin(context(), { kind, name, ...options }),
    );

  program
    .command("check")
    .description(
      "check a plugin: manifest, contract, options, determinism, rewards, data, leaks, recorded behaviour; docs/reference/checks.md has every finding",
    )
    .argument("[target]", "folder of a plugin, or an installed package; default: this folder", ".")
    .option("--only <id...>", "check these parts only: package, or provisions such as environment:math@2 or math")
    .option("--quick", "leave out what takes longer: long plays, gRPC, measured speed")
    .option(
      "--update",
      "record the behaviour of the environments in mrlm.behaviour.json, which is published with the package",
    )
    .option("--badge", "print a badge for the README, as Markdown")
    .option(
      "--play <model>",
      "sample episodes with this model, as `eval --model` takes it, and count groups with two different rewards",
    )
    .option("--play-groups <n>", "groups of eight episodes that --play samples", "16")
    .option("--base-url <url>", "with --play openai:NAME: address of the API")
    .option("--model-options <json>", "with --play openai:NAME: options of the model")
    .option("--max-tokens <n>", "with --play: of one turn; default: 256")
    .action(async (target: string, args: CheckArguments) =>
      finish(await (await import("./commands/check.ts")).check(context(), target, args)),
    );

  program
    .command("publish")
    .description(
      "check, build and pack a plugin from a clean copy, compare its behaviour with the last published version, and publish it by npm",
    )
    .argument("[directory]", "folder of the plugin; default: this folder", ".")
    .option("--dry-run", "report everything, and publish nothing")
    .option("--tag <tag>", "tag of the version in the registry; default: latest")
    .option("--yes", "publish without a question")
    .action(async (target: string, args: PublishArguments) =>
      finish(await (await import("./commands/publish.ts")).publish(context(), target, args)),
    );

  declarePlugins(program, context);

  program
    .command("info")
    .description(
      "versions, plugins and what they provide, the tasks of a configuration, the state of the engine, the isolation layers of the sandboxes",
    )
    .option(
      "--config <path>",
      "configuration whose plugins and tasks are listed too, including plugins that it names by path",
    )
    .addOption(setFlag())
    .action(async (args: InfoArguments) => (await import("./commands/info.ts")).info(context(), args));

  program
    .command("score")
    .description(
      "score rows {expected, answer} of a JSONL file or of a query of a run, and print each with its verdict; or score the episodes of a run again, by their environments or by a judge",
    )
    .option("--scorer <id>", "which scorer, for example math")
    .option("--file <path>", "JSONL file; each row may have schema, options, question and messages of its own")
    .option(
      "--run <path>",
      "run's directory, or for a query an episode store; alone: score its stored episodes again by their environments",
    )
    .option(
      "--query <sql>",
      "with --run and --scorer: a SELECT with columns `expected` and `answer`, see `mrlm query`; `options` is JSON",
    )
    .option("--judge <id>", "with --run: judge its stored episodes by this judge, and compare the scores")
    .option("--judge-options <json>", "with --judge: options of the judge's plugin, in place of those of the run")
    .option("--task <id>", "with --judge or --run alone: episodes of this task (eval/3) or split (eval) only")
    .option("-n, --num-episodes <n>", "with --judge or --run alone: the newest so many episodes (default: 1000)")
    .action(async (args: ScoreArguments) => (await import("./commands/score.ts")).scoreRows(context(), args));

  program
    .command("engine")
    .description("the engine that loads and trains models")
    .command("setup")
    .description("install the engine's Python environment; quick when it is complete")
    .option("--engine <id>", "which engine", "torch")
    .option("--extra <name...>", "optional parts: lora, dev")
    .option("--torch-index <url>", "package index to take torch from")
    .action(async (args: SetupArguments) => (await import("./commands/engine.ts")).setUpEngine(context(), args));

  // The flag may stand before the command or after it.
  for (const leaf of leaves(program))
    leaf
      .option(...JSON_FLAG)
      .hook("preAction", () => void (leaf.opts<{ json?: boolean }>().json && program.setOptionValue("json", true)));
  return { command: program, context };
}

/** Returns the commands with their own action, such as `engine setup` but not `engine`. */
export function leaves(command: Command): Command[] {
  return command.commands.flatMap((child) => (child.commands.length > 0 ? leaves(child) : [child]));
}
