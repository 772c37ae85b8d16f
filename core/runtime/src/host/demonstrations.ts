import { type Demonstration, type Logger, MrlmError, type TaskId } from "@mrlm/spec";
import { describeThrown } from "../plugins/error-location.ts";
import { environmentContext } from "./environment-context.ts";
import { PhaseClock } from "./phase-clock.ts";
import type { PreparedEnvironment } from "./prepared-environment.ts";
import { agentFault } from "./roles.ts";
import { SessionJudgements } from "./session-judgements.ts";
import { SessionTools } from "./session-tools.ts";
import { validateResult } from "./validate-result.ts";
import { checkTask, parseTaskId } from "./task-choice.ts";

/** Milliseconds of work between two turns of the event loop: other sessions share it. */
const TURN_MS = 20;

/** Returns worked solutions in the order of the tasks. Rejects tasks outside the training split, so that held-out answers cannot leak into training. */
export async function demonstrateTasks(
  prepared: PreparedEnvironment,
  tasks: readonly TaskId[],
  { logger, signal }: { readonly logger: Logger; readonly signal?: AbortSignal },
): Promise<Demonstration[]> {
  const { definition, requirements, options, deadlines, files } = prepared;
  const { demonstrate } = definition;
  if (demonstrate === undefined)
    throw new MrlmError("DEMONSTRATION_REFUSED", `Environment ${definition.id} has no demonstrations.`);
  const refused = tasks.find((task) => parseTaskId(task)?.split !== "train");
  if (refused !== undefined)
    throw new MrlmError(
      "DEMONSTRATION_REFUSED",
      `Environment ${definition.id} demonstrates tasks of the split "train" only, not "${refused}".`,
    );
  const clock = new PhaseClock(definition.id, deadlines);
  const tools = new SessionTools(clock, logger);
  const context = environmentContext({
    environment: definition.id,
    logger,
    tasks: prepared.tasks,
    requirements,
    clock,
    files,
    tools,
    judgements: new SessionJudgements(),
  });
  const demonstrations: Demonstration[] = [];
  let began = performance.now();
  for (const task of tasks) {
    if (performance.now() - began > TURN_MS) {
      await new Promise(setImmediate);
      began = performance.now();
    }
    signal?.throwIfAborted();
    checkTask(definition, prepared.tasks, task);
    try {
      const returned = await clock.run("setup", [], () => demonstrate.call(definition, context, options, task));
      demonstrations.push(checkDemonstration(prepared, task, returned));
    } catch (error) {
      if (MrlmError.isInstance(error)) throw error;
      throw new MrlmError(
        "ENVIRONMENT_FAILED",
        `Environment ${definition.id} threw in demonstrate for ${task}: ${describeThrown(error)}`,
        { cause: error },
      );
    } finally {
      // A demonstration is an episode: the tools that it opened end with it.
      await tools.close();
    }
  }
  return demonstrations;
}

function checkDemonstration(prepared: PreparedEnvironment, task: TaskId, returned: Demonstration): Demonstration {
  const { id, roles } = prepared.description;
  const fault = (problem: string): MrlmError =>
    new MrlmError("ENVIRONMENT_FAILED", `Environment ${id} returned a malformed demonstration of ${task}: ${problem}.`);
  if (returned?.task !== task) throw fault(`it is of task "${returned?.task}"`);
  const agent = agentFault(String(returned.agent), roles);
  if (agent !== undefined) throw fault(`agent: ${agent}`);
  const messages = validateResult<Demonstration["messages"]>("conversation", returned.messages);
  if ("problem" in messages) throw fault(`messages: ${messages.problem}`);
  if (!messages.value.some((message) => message.role === "assistant"))
    throw fault("it has no message of role assistant, so there is nothing to learn");
  return {
    task,
    agent: returned.agent,
    messages: messages.value,
    ...(returned.tools === undefined ? {} : { tools: returned.tools }),
  };
}
