import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type JsonObject,
  type Message,
  messageText,
  MrlmError,
  type Observation,
  type Plugin,
  type StepResult,
  textMessage,
} from "@mrlm/kit";
import type { Scorer, Workspace, Workspaces } from "@mrlm/spec";
import { barePluginContext, bareEnvironment } from "@mrlm/testing";
import { agent } from "../../src/definition.ts";

/** Opens the provider of workspaces. By a name in a variable, because no plugin imports another. */
export async function openWorkspaces(options: JsonObject = {}): Promise<Workspaces> {
  const name: string = "@mrlm/workspace-local";
  const { default: plugin } = (await import(name)) as { readonly default: Plugin };
  const parsed = await plugin.options?.["~standard"].validate(options);
  return (await plugin.workspaces?.["linux"]?.(
    barePluginContext(),
    (parsed as { readonly value: unknown }).value,
  )) as Workspaces;
}

/** Files of a program and its options. */
export interface Case {
  /** Texts by name, in the working directory of the program. */
  readonly files?: Readonly<Record<string, string>>;
  /** Options over those of a program `python3 agent.py`, whose output is compared with the answer `right`. */
  readonly options?: JsonObject;
  /** Answer of each turn; default: `answer N`. */
  readonly policy?: (observation: Observation, turn: number) => string | Message | Promise<string | Message>;
  /** Called before each step; `true` closes the session in place of it. */
  readonly closes?: (turn: number) => boolean;
  /** Time after which the session is closed while it works, in milliseconds. */
  readonly closesAfterMs?: number;
  readonly scorers?: Readonly<Record<string, Scorer>>;
}

export interface Played {
  readonly observations: readonly Observation[];
  readonly end: StepResult | undefined;
  /** Reward of all agents, or the reason of one without a score. */
  readonly reward: number | string | undefined;
}

/** Plays an episode as a host does: the workspaces are closed with it. */
export async function play(
  workspaces: Workspaces,
  { files = {}, options, policy = (_, turn) => `answer ${turn}`, closes, closesAfterMs, scorers = {} }: Case,
): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  const rows = join(folder, "rows.jsonl");
  writeFileSync(rows, `${JSON.stringify({ instruction: "Do it.", answer: "right", files })}\n`);
  const opened: Workspace[] = [];
  let isClosed = false;
  const tracked: Workspaces = {
    ...{ limits: workspaces.limits, sockets: workspaces.sockets, close: async () => undefined },
    async open(given) {
      const workspace = await workspaces.open(given);
      opened.push(workspace);
      if (!isClosed) return workspace;
      await workspace.close();
      throw new MrlmError("CANCELLED", "The episode has ended.");
    },
  };
  const { signal } = new AbortController();
  const { context, options: parsed } = await bareEnvironment(
    agent,
    {
      ...{ command: "exec python3 agent.py", data: { path: rows, eval_share: 0 } },
      score: { command: '[ "$(cat "$SCORE/output")" = "$(cat "$SCORE/answer")" ]' },
      ...options,
    },
    { workspaces: { linux: tracked }, scorers },
  );
  const environment = await agent.create(context as never, parsed);
  const observations: Observation[] = [];
  let end: StepResult | undefined;
  const close = async (): Promise<void> => {
    isClosed = true;
    await environment.close?.();
    await Promise.all(opened.map((each) => each.close()));
  };
  const closing = closesAfterMs === undefined ? undefined : setTimeout(() => void close(), closesAfterMs);
  try {
    let observation = await environment.reset({ task: "train/0", signal });
    for (;;) {
      observations.push(observation);
      const turn = observations.length - 1;
      if (closes?.(turn) === true) break;
      const answer = await policy(observation, turn);
      const message = typeof answer === "string" ? textMessage("assistant", answer) : answer;
      const result = await environment.step({ agent: observation.agent, message, finishReason: "stop" }, { signal });
      observation = result.observation;
      if (observation.agent !== "") continue;
      end = result;
      break;
    }
  } finally {
    clearTimeout(closing);
    await close();
    rmSync(folder, { recursive: true });
  }
  const rewards = Object.values(end?.rewards ?? {}).map((each) => (each.scored ? each.value : each.message));
  return { observations, end, reward: rewards[0] };
}

/** Returns the texts that a policy reads. */
export const textsOf = ({ observations }: Played): string[] =>
  observations.flatMap(({ messages }) => messages.map(messageText));

/** Functions for programs in Python: `ask` sends messages, and returns the text of the answer. */
export const PYTHON = `
import json, os, subprocess, sys, time, urllib.error, urllib.request
def ask(*messages, key=os.environ["OPENAI_API_KEY"], path="/chat/completions", url=os.environ["OPENAI_BASE_URL"], **more):
    body = {"model": "agent", "messages": [{"role": "user", "content": each} for each in messages], **more}
    headers = {"authorization": "Bearer " + key, "content-type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]
def status(*messages, **options):
    try:
        ask(*messages, **options)
        return 200
    except urllib.error.HTTPError as error:
        return error.code
`;
