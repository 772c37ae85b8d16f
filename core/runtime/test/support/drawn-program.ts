import { type Message, randomStream, type RandomStream, toolCalls } from "@mrlm/kit";
import { agentEnvironment, type AgentCall, type AgentModel } from "@mrlm/kit/agent";
import type { EnvironmentDefinition } from "@mrlm/spec";

/** Message of the chat API. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
}

const user = (content: string): ChatMessage => ({ role: "user", content });

/** Sends a chat request. Resolves with the message, or with the code of an error. */
export async function ask(
  { baseURL, apiKey, fetch: send, name }: AgentModel,
  body: object,
  more: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
): Promise<ChatMessage | string> {
  const response = await send(`${baseURL}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, ...more.headers },
    body: JSON.stringify({ model: name, ...body }),
    ...(more.signal && { signal: more.signal }),
  });
  const answer = (await response.json()) as any;
  return response.status === 200 ? (answer.choices[0].message as ChatMessage) : (answer.error.code as string);
}

/** Plays a program whose calls are drawn: it continues, edits, forks, compacts, calls in parallel, leaves and repeats calls. */
async function drawnProgram(model: AgentModel, random: RandomStream): Promise<void> {
  let history: ChatMessage[] = [{ role: "system", content: "s" }, user(`q${random.integer(0, 3)}`)];
  const past: ChatMessage[][] = [];
  for (let left = random.integer(1, 6); left > 0; left--) {
    const body = { messages: history, ...(random.next() < 0.2 && { stop: [..."bfghjk"] }) };
    const kind = random.pick(["ask", "ask", "ask", "retry", "leave", "unread", "parallel"]);
    if (kind === "unread") {
      await model.fetch(`${model.baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${model.apiKey}` },
        body: JSON.stringify({ model: model.name, ...body, stream: true }),
      });
      continue;
    }
    if (kind === "leave") {
      const client = new AbortController();
      const sent = ask(model, body, { signal: client.signal }).catch(() => undefined);
      for (let turns = random.integer(0, 3); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      client.abort();
      await sent;
      continue;
    }
    const answers = await Promise.all(
      Array.from({ length: kind === "parallel" ? random.integer(2, 4) : 1 }, () => ask(model, body)),
    );
    if (kind === "retry") answers.push(await ask(model, body, { headers: { "x-stainless-retry-count": "1" } }));
    const answer = random.pick(answers);
    if (typeof answer === "string") return;
    past.push(history);
    const next = [...history, answer, user(`n${random.integer(0, 9)}`)];
    const change = random.next();
    if (change < 0.6) history = next;
    else if (change < 0.7) history = [...history, { role: "assistant", content: "edited" }, user("n")];
    else if (change < 0.8) history = [...random.pick(past), user("fork")];
    else if (change < 0.85) history = [user("summary"), ...next.slice(-2)];
    else if (change < 0.95) history = [{ role: "system", content: `s${left}` }, ...next.slice(1)];
    else history = [user(`other ${left}`)];
  }
}

/** Environment of drawn programs, one for each task. @param onEnd receives the answered calls of each episode */
export function drawnPrograms(
  size: number,
  onEnd: (task: string, calls: readonly AgentCall[]) => void,
): EnvironmentDefinition<any> {
  return agentEnvironment<unknown, { readonly number: number }, {}>({
    id: "programs@1",
    description: "Drawn programs.",
    tasks: () => ({
      splits: { train: size, eval: 0 },
      get: async (split, index) => ({ id: `${split}/${index}`, public: { number: index }, private: {} }),
    }),
    roles: { one: {}, many: { many: true } },
    async run({ model, task }) {
      const random = randomStream("programs", task.public.number);
      await drawnProgram(random.next() < 0.5 ? model : { ...model, ...model.role("many") }, random);
    },
    score({ task, calls }) {
      onEnd(task.id, calls);
      return 1;
    },
  });
}

/** Returns a history in which messages can be compared. */
export function readable(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    const text = message.parts.map((part) => ("text" in part && part.type !== "thinking" ? part.text : "")).join("");
    return JSON.stringify([
      message.role,
      text.trim(),
      toolCalls(message).map(({ name, arguments: own }) => [name, own]),
    ]);
  });
}
