import { hash } from "node:crypto";
import { EpisodeTally, type RunDirectory, storedGroups } from "@mrlm/runtime";
import { type RecordedRow, toRecordedRows } from "@mrlm/kit/learning";
import type { JsonObject, JsonValue, Trajectory } from "@mrlm/spec";
import type { EpisodeReader } from "@mrlm/store";
import { VERSION } from "../version.ts";
import type { kindsOf, RecordedResult } from "./evaluation-run.ts";
import { ZipFile } from "./zip-file.ts";

type Kind = ReturnType<typeof kindsOf>[number];

/**
 * Writes the episodes of one kind as a log of Inspect: a ZIP archive of its format `eval`, version 2 (inspect_ai 0.3, `inspect_ai.log`), which `inspect view`
 * and `read_eval_log` open. A sample has the scores `accuracy` (1 if the task was solved) and `reward`; one that failed has its error, and one without a
 * score has none, so that Inspect's means are ours.
 */
export function writeInspectLog(path: string, run: RunDirectory, result: RecordedResult, kind: Kind): void {
  const reader = run.readEpisodes() as EpisodeReader;
  const zip = new ZipFile(path);
  try {
    const tally = new EpisodeTally(result.role);
    for (const trajectory of episodesOf(kind, reader)) tally.add(trajectory);
    const { started } = run.readRecord();
    const created = new Date(String(started)).toISOString().replace("Z", "+00:00");
    const spec = specOf(result, kind, created);
    const plan = { name: "plan", steps: [], config: {} };
    const scorers = ["accuracy", "reward"];
    zip.add("_journal/start.json", JSON.stringify({ version: 2, eval: spec, plan }));
    const summaries: JsonObject[] = [];
    for (const trajectory of episodesOf(kind, reader)) {
      const sample = sampleOf(trajectory, result, tally);
      zip.add(`samples/${String(sample["id"])}_epoch_${String(sample["epoch"])}.json`, JSON.stringify(sample));
      summaries.push(summaryOf(sample));
    }
    zip.add("_journal/summaries/1.json", JSON.stringify(summaries));
    zip.add("summaries.json", JSON.stringify(summaries));
    const { accuracy, reward, scored, episodes } = tally.summary();
    const means = { accuracy, reward };
    const results = {
      total_samples: episodes,
      completed_samples: scored,
      scores: scorers.map((name) => ({
        ...{ name, scorer: name, params: {}, scored_samples: scored, unscored_samples: episodes - scored },
        metrics: { mean: { name: "mean", value: means[name as keyof typeof means] ?? 0, params: {} } },
      })),
    };
    const stats = { started_at: created, completed_at: created, model_usage: {} };
    zip.add("header.json", JSON.stringify({ version: 2, status: "success", eval: spec, plan, results, stats }));
    zip.close();
  } catch (error) {
    zip.discard();
    throw error;
  } finally {
    reader.close();
  }
}

function* episodesOf(kind: Kind, reader: EpisodeReader): Generator<Trajectory> {
  for (const { trajectories } of storedGroups([kind], reader)) yield* trajectories;
}

/** Specification of the evaluation. */
function specOf(
  { environment, name, split }: RecordedResult,
  { key, size, tasks, label }: Kind,
  created: string,
): JsonObject {
  const ids = tasks.map(({ task }) => sampleId(task));
  return {
    ...{ eval_id: hash("sha256", `eval ${key}`).slice(0, 22), run_id: key.slice(0, 22), task_id: key.slice(0, 22) },
    ...{ created, task: environment, task_version: 0, task_attribs: {}, task_args: {} },
    dataset: { name: split, samples: ids.length, sample_ids: ids, shuffled: false },
    ...{ model: `mrlm/${name}`, model_generate_config: {}, model_args: {} },
    config: { epochs: size, epochs_reducer: ["mean"], fail_on_error: false },
    ...{ packages: { mrlm: VERSION }, tags: [label] },
    scorers: ["accuracy", "reward"].map((scorer) => ({
      ...{ name: scorer, options: {}, metadata: {} },
      metrics: [{ name: "inspect_ai/mean", options: {} }],
    })),
  };
}

/** One episode. */
function sampleOf(trajectory: Trajectory, { role, name }: RecordedResult, tally: EpisodeTally): JsonObject {
  const { task, member, error, info = {}, seconds } = trajectory;
  const rows = toRecordedRows(trajectory, () => "");
  const isMeasured = (row: RecordedRow): boolean =>
    row.player?.kind === "policy" && (role === undefined || row.role === role);
  const row = rows.find(isMeasured) ?? rows[0];
  const messages = (row?.messages ?? []).map((message, i) => inspectMessage(message, `${trajectory.id}/${i}`, name));
  const last = messages.findLast((message) => message["role"] === "assistant");
  const firstAnswer = messages.findIndex((message) => message["role"] === "assistant");
  const score = tally.scoreOf(trajectory);
  const explanation = row?.grades?.at(-1)?.reason ?? row?.judgements?.at(-1)?.reason ?? null;
  const scored = (value: number): JsonObject => ({
    value,
    answer: textOf(last?.["content"]),
    explanation,
    metadata: {},
  });
  return {
    ...{ id: sampleId(task), epoch: member + 1 },
    input: (firstAnswer < 0 ? messages : messages.slice(0, firstAnswer)) as JsonValue,
    ...{ target: "", messages: messages as JsonValue },
    output: {
      ...{ model: `mrlm/${name}`, completion: textOf(last?.["content"]) },
      choices: last === undefined ? [] : [{ message: last, stop_reason: stopReason(row) }],
    },
    scores: score === undefined ? {} : { accuracy: scored(score.solved), reward: scored(score.reward) },
    metadata: { task, info, components: score?.components ?? {}, unscored: (row?.unscored ?? null) as JsonValue },
    ...{ store: {}, events: [], model_usage: {}, attachments: {}, uuid: hash("sha256", trajectory.id).slice(0, 22) },
    ...{ total_time: seconds.sampling + seconds.environment + (seconds.players ?? 0) },
    ...(error === undefined
      ? {}
      : { error: { message: `${error.code}: ${error.message}`, traceback: "", traceback_ansi: "" } }),
  };
}

/** Sample without its messages, for lists. */
function summaryOf(sample: JsonObject): JsonObject {
  const { id = null, epoch = 1, input = [], target = "", scores = {}, metadata = {}, error, model_usage = {} } = sample;
  return {
    ...{ id, epoch, target, scores, metadata, model_usage, completed: true },
    input: (input as JsonObject[]).map(({ role = "", content = "" }) => ({
      role,
      content: textOf(content).slice(0, 500),
    })),
    ...(error === undefined ? {} : { error: String((error as JsonObject)["message"]) }),
  };
}

/** The name of a sample is a part of the name of its file. */
function sampleId(task: string): string {
  return task.replaceAll("/", "-");
}

/** Message in the form of `inspect_ai.model`. */
function inspectMessage(message: RecordedRow["messages"][number], id: string, model: string): JsonObject {
  const { role, content, name, reasoning_content: reasoning, tool_calls: calls, tool_call_id: call } = message;
  const text = content ?? "";
  const parts: JsonValue = reasoning
    ? [
        { type: "reasoning", reasoning },
        { type: "text", text },
      ]
    : text;
  if (role === "tool")
    return { id, role, content: text, ...(call ? { tool_call_id: call } : {}), ...(name ? { function: name } : {}) };
  if (role !== "assistant") return { id, role, content: text };
  const toolCalls = (calls ?? []).map(({ id: given, function: { name: tool, arguments: args } }, i) => ({
    ...{ id: given ?? `${id}/${i}`, type: "function", function: tool },
    arguments: (typeof args === "string" ? JSON.parse(args) : args) as JsonObject,
  }));
  return {
    id,
    role,
    content: parts,
    source: "generate",
    model,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
}

function stopReason(row: RecordedRow | undefined): string {
  const reason = row?.turns.at(-1)?.stop_reason;
  return reason === "length" || reason === "exhausted" ? "max_tokens" : "stop";
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return ((content ?? []) as { readonly text?: string }[]).map(({ text = "" }) => text).join("");
}
