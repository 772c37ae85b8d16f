import plugin from "@mrlm/judge-llm";
import { type Judge, type JudgeRequest, type Scorer, textMessage } from "@mrlm/kit";
import {
  barePluginContext,
  type ChatServer,
  type ChatServerReply,
  type ChatServerRequest,
  startChatServer,
} from "@mrlm/testing";

export const never = new AbortController().signal;
const opened: { close(): Promise<void> }[] = [];

/** Closes the servers of a test. */
export async function closeAll(): Promise<void> {
  for (const resource of opened.splice(0)) await resource.close();
}

export async function serve(
  reply: (request: ChatServerRequest, index: number) => ChatServerReply | Promise<ChatServerReply>,
): Promise<ChatServer> {
  const server = await startChatServer(reply);
  opened.push(server);
  return server;
}

async function parsed(server: ChatServer, options: object, endpoint: object): Promise<never> {
  const given = { endpoint: { base_url: server.baseUrl, model: "m", max_retries: 0, ...endpoint }, ...options };
  const result = await plugin.options!["~standard"].validate(given);
  if (result.issues !== undefined) throw new Error(JSON.stringify(result.issues));
  return result.value as never;
}

export async function judgeOf(server: ChatServer, options: object = {}, endpoint: object = {}): Promise<Judge> {
  return await plugin.judges["llm@2"](barePluginContext(), await parsed(server, options, endpoint));
}

export async function scorerOf(server: ChatServer, options: object = {}): Promise<Scorer> {
  return await plugin.scorers["llm@2"](barePluginContext(), await parsed(server, options, {}));
}

/** Debate of `pro` and `con` with the given texts. */
export function debate(pro: string, con: string, fields: Partial<JudgeRequest> = {}): JudgeRequest {
  return {
    question: "Cities should ban cars.",
    agents: ["pro", "con"],
    turns: [
      { agent: "pro", message: textMessage("assistant", pro) },
      { agent: "con", message: textMessage("assistant", con) },
    ],
    task: { id: "train/0", public: {}, private: { secret: "key points" } },
    ...fields,
  };
}

/** Reads the participants of a request: agent by label. */
export function participantsOf({ body }: ChatServerRequest): Record<string, string> {
  const line = body.messages[1]!.content.split("\n").find((text) => text.startsWith('{"participants"'));
  return (JSON.parse(line as string) as { participants: Record<string, string> }).participants;
}

/** Verdict of a comparison with the better agent. */
export function comparison(request: ChatServerRequest, better: string): string {
  const winner = participantsOf(request)["A"] === better ? "A" : "B";
  return JSON.stringify({
    reasons: "Because.",
    scores: { A: winner === "A" ? 7 : 3, B: winner === "B" ? 7 : 3 },
    winner,
  });
}
