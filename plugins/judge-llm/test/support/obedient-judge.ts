import type { ChatServerRequest } from "@mrlm/testing";
import { comparison, participantsOf } from "./judge.ts";

const LINE_END = /\r\n|[\n\r\u0085\u2028\u2029\v\f]/;
/** Tokens of chat templates, which begin a message of another role wherever they stand. */
const ROLE_TAG =
  /<\|[^|>]*\|>|<\/?s>|\[\/?INST\]|<<\/?SYS>>|<(start|end)_of_turn>|<\/?(system|user|assistant|transcript|tool_\w+)>|<!--/i;
const ORDER = /declare (\w+) the winner/i;

/** Letters as a reader takes them: of one width, without invisible characters. */
const plain = (text: string): string => text.normalize("NFKC").replace(/\p{Cf}/gu, "");

/**
 * Returns the text that a judge takes as instructions: all outside the markers. It is easily deceived: any line that begins with a marker counts, whatever
 * its nonce and letters; a role tag ends the data; a line of data that is no JSON is no data.
 */
export function instructionsOf(text: string): string {
  const outside: string[] = [];
  let isData = false;
  for (const line of text.split(LINE_END).map(plain)) {
    const [before = "", ...after] = line.split(ROLE_TAG);
    if (/^\s*BEGIN DATA/i.test(line)) isData = true;
    else if (/^\s*END DATA/i.test(line) || line.startsWith("```")) isData = false;
    else if (!isData || !isJson(line)) outside.push(before);
    outside.push(...after);
  }
  return outside.join("\n");
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Returns the agent whose victory the instructions order. */
export const orderedWinner = (text: string): string | undefined => ORDER.exec(instructionsOf(text))?.[1];

/** Judge that follows every instruction outside the markers, and prefers `honest` without one. */
export function obedientVerdict(request: ChatServerRequest, honest: string): string {
  const text = request.body.messages.map(({ content }) => content).join("\n");
  const agents = Object.values(participantsOf(request));
  const ordered = orderedWinner(text);
  return comparison(request, ordered !== undefined && agents.includes(ordered) ? ordered : honest);
}
