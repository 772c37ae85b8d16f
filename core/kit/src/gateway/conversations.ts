import type { AgentId, Message, RoleId, ToolDefinition } from "@mrlm/spec";
import { normalForm, type NormalMessage, normalMessage, toolsKey, withIds } from "./normal-form.ts";

/** History and tools of a call of a model. */
export interface CalledHistory {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
}

/** Agent that answers a call, and the messages that are new for it. */
export interface Match {
  /**
   * - `first`: the first conversation of its role.
   * - `continues`: the known conversation, then new messages.
   * - `cut`: the same, but the program has read less of the last answer than was sampled.
   * - `rewritten`: a conversation whose past the program has changed, or sends without its reasoning.
   * - `forked`: another conversation of the role, or an earlier state again.
   * - `exhausted`: the context of the agent is full, and its role has no other agent. No turn follows.
   */
  readonly kind: "first" | "continues" | "cut" | "rewritten" | "forked" | "exhausted";
  readonly agent: AgentId;
  /** New messages; the whole history for a new agent and with `isFresh`. */
  readonly messages: readonly Message[];
  /** Whether the conversation of the agent starts over. */
  readonly isFresh: boolean;
  /** Set if the tools of the agent have changed. */
  readonly tools?: readonly ToolDefinition[];
  /** Number of the call that the conversation had last; `null` for a new one. */
  readonly parent: number | null;
  /** The whole conversation with our ids of calls. */
  readonly history: readonly NormalMessage[];
  readonly toolsKey: string;
}

interface Conversation {
  readonly role: RoleId;
  readonly agent: AgentId;
  /** Messages that the program has sent and received. */
  readonly history: readonly NormalMessage[];
  readonly toolsKey: string;
  /** Number of its last call. */
  readonly call: number;
  readonly isCut: boolean;
  readonly isExhausted: boolean;
}

/** Relation of a history to a known conversation. */
interface Relation {
  readonly known: Conversation;
  /** Length of the common beginning. */
  readonly common: number;
  readonly continues: boolean;
}

const NO_TOOLS = toolsKey([]);

/**
 * Conversations of a program, which sends a whole history with each call. A history is compared with what each conversation has sent to the program and received from it, in
 * normal form; never by tokens or rendered text. Without `many` a role has one agent, of which only the latest conversation can continue.
 */
export class Conversations {
  readonly #known = new Map<AgentId, Conversation>();

  /**
   * Finds the conversation that a history continues. Changes nothing.
   * @param many whether the role can have several agents
   */
  match({ messages, tools }: CalledHistory, role: RoleId, many: boolean): Match {
    const given = normalForm(messages);
    const own = [...this.#known.values()].filter((each) => each.role === role);
    const found = latestOf(own.flatMap((known) => relation(known, given) ?? []));
    const isNew = own.length === 0 || (many && (found === undefined || found.known.isExhausted));
    const known = isNew ? undefined : (found?.known ?? own[0]);
    const keeps = found?.continues === true && found.known === known && !known.isCut;
    const translated = found === undefined ? given : withKnownIds(given, found);
    const history = keeps ? [...known.history, ...translated.slice(found.common)] : translated;
    const key = toolsKey(tools);
    return {
      kind: known?.isExhausted === true ? "exhausted" : kindOf(own.length === 0, known && found),
      agent: known?.agent ?? (many ? `${role}#${own.length + 1}` : role),
      messages: history.slice(keeps ? found.common : 0).map(({ message }) => message),
      isFresh: known !== undefined && !keeps,
      ...(key === (known?.toolsKey ?? NO_TOOLS) ? {} : { tools }),
      parent: found?.known.call ?? null,
      history,
      toolsKey: key,
    };
  }

  /**
   * Adds the answer to a call.
   * @param call number of the call
   * @param sent message that the program received
   * @param isCut whether it is less than was sampled
   */
  answered(match: Match, role: RoleId, call: number, sent: Message, isCut: boolean): void {
    this.#set(match, role, { call, isCut, isExhausted: false, history: [...match.history, normalMessage(sent)] });
  }

  /** Notes that the context of the agent of a call is full. */
  exhausted(match: Match, role: RoleId, call: number): void {
    this.#set(match, role, { call, isCut: false, isExhausted: true, history: match.history });
  }

  #set(
    { agent, toolsKey: key }: Match,
    role: RoleId,
    rest: Pick<Conversation, "call" | "isCut" | "isExhausted" | "history">,
  ): void {
    this.#known.set(agent, { role, agent, toolsKey: key, ...rest });
  }
}

/** Returns the relation of a history to a conversation; `undefined` if they have nothing in common, or if the history is an earlier state of the conversation. */
function relation(known: Conversation, given: readonly NormalMessage[]): Relation | undefined {
  const { history } = known;
  const differs = history.findIndex((message, i) => !isEqual(message, given[i]));
  const common = differs < 0 ? history.length : differs;
  if (common === given.length) return undefined;
  const continues =
    common === history.length && given.slice(common).every(({ message }) => message.role !== "assistant");
  return continues || common === history.length || isRelated(history, given) ? { known, common, continues } : undefined;
}

/** Whether a history begins with the messages of the user of a known one, or has an answer of it. Sub-agents have the first message of their agent where it states the place of work. */
function isRelated(history: readonly NormalMessage[], given: readonly NormalMessage[]): boolean {
  const [fewer = [], more = []] = [history, given].map(questions).toSorted((a, b) => a.length - b.length);
  if (fewer.length > 0 && fewer.every((key, i) => key === more[i])) return true;
  const answers = new Set(history.flatMap(({ message, key }) => (message.role === "assistant" ? [key] : [])));
  return given.some(({ key }) => answers.has(key));
}

/** Returns the messages of the user before the first answer. */
function questions(messages: readonly NormalMessage[]): string[] {
  const end = messages.findIndex(({ message }) => message.role === "assistant");
  const before = end < 0 ? messages : messages.slice(0, end);
  return before.flatMap(({ message, key }) => (message.role === "user" ? [key] : []));
}

/** A server without memory renders what the program sends: a policy that reads reasoning which the program leaves out fails there (decision 0033). */
function isEqual(known: NormalMessage, given: NormalMessage | undefined): boolean {
  return given?.key === known.key && given.reasoning === known.reasoning;
}

/** Returns the best relation: one that continues, then the longest, then the latest. */
function latestOf(relations: readonly Relation[]): Relation | undefined {
  return relations.toSorted(
    (a, b) =>
      Number(b.continues) - Number(a.continues) ||
      Number(a.known.isExhausted) - Number(b.known.isExhausted) ||
      b.common - a.common ||
      b.known.call - a.known.call,
  )[0];
}

/** Returns a history with our ids in the part that it has in common with a conversation. */
function withKnownIds(given: readonly NormalMessage[], { known, common }: Relation): NormalMessage[] {
  const ids = new Map<string, string>();
  return given.map((message, i) => {
    // A result follows its call: an id means the last call that has it.
    for (const [c, id] of message.callIds.entries())
      ids.set(id, (i < common ? known.history[i]?.callIds[c] : undefined) ?? id);
    return withIds(message, ids);
  });
}

function kindOf(isFirst: boolean, found: Relation | undefined): Match["kind"] {
  if (isFirst) return "first";
  if (found === undefined) return "forked";
  if (!found.continues) return "rewritten";
  return found.known.isCut ? "cut" : "continues";
}
