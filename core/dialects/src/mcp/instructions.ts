import type { Episode } from "../episode.ts";
import { textOf } from "./content.ts";
import { FINISH, OBSERVE } from "./own-tools.ts";

/** Characters of the task in the instructions. Clients put them into the system prompt of a model. */
const MAX_TASK = 16_384;

/** Returns the instructions for a model: what this server is, how an episode ends, and the task. */
export function instructions({ description, first, tools }: Episode): string {
  const task = textOf(first.messages);
  const hasImages = first.messages.some(({ parts }) => parts.some(({ type }) => type === "image"));
  const turns =
    description.maxTurns === 0 ? "" : ` You have ${description.maxTurns} turns; each call but ${OBSERVE} is one.`;
  return [
    `This server is one episode of the environment ${description.id}: ${description.description}`,
    `${tools.length > 0 ? "Solve the task with the tools of the server, and then call" : "Solve the task, and call"} ${FINISH} with your answer. It ends the episode.${turns}`,
    `${OBSERVE} shows the task again${hasImages || task.length > MAX_TASK ? ", as a whole and with its images" : ""}.`,
    `Task:\n${task.length > MAX_TASK ? `${task.slice(0, MAX_TASK)}...` : task}`,
  ].join("\n\n");
}
