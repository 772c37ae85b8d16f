import { expect, test } from "@jest/globals";
import { messageText } from "@mrlm/kit";
import { missingJail } from "../../plugins/workspace-local/test/support/missing-jail.ts";
import { interpreterOf } from "../interop/support/peer-python.ts";
import { assistant } from "./support/play-program.ts";
import { playAgent, REPAIR } from "./support/play-agent.ts";
import { pythonProgram } from "./support/python-program.ts";

const bash = (command: string, id: string) =>
  assistant({ type: "tool-call", id, name: "bash", arguments: { command } });
const code = (text: string) => assistant(`Thought: I act.\n<code>\n${text}\n</code>`);
const CALLS = [bash("ls", "call0"), bash(REPAIR, "call1")];

/** Programs by their packages: folder, arguments, and the answers that repair the repository. */
const PROGRAMS = {
  "smolagents, an agent that writes code": {
    ...{ folder: "test/agents/smolagents", program: "agent.py code" },
    answers: [code("print(bash('ls'))"), code(`print(bash(${JSON.stringify(REPAIR)}))`), code('final_answer("Done.")')],
  },
  "smolagents, an agent that calls tools": {
    ...{ folder: "test/agents/smolagents", program: "agent.py tools" },
    answers: [
      ...CALLS,
      assistant({ type: "tool-call", id: "call2", name: "final_answer", arguments: { answer: "Done." } }),
    ],
  },
  "openai-agents by Responses": {
    ...{ folder: "test/agents/openai-python", program: "repair.py responses" },
    answers: [...CALLS, assistant("Done.")],
  },
  "openai-agents by the chat API": {
    ...{ folder: "test/agents/openai-python", program: "repair.py chat" },
    answers: [...CALLS, assistant("Done.")],
  },
};

for (const [name, { folder, program, answers }] of Object.entries(PROGRAMS)) {
  const found = missingJail === undefined ? await interpreterOf({ folder }) : { reason: missingJail };
  if ("reason" in found) {
    test.skip(`${name} (${found.reason})`, () => undefined);
    continue;
  }
  const { folders, command } = pythonProgram(found.python, folder, program);
  const options = { command };

  test(`${name} repairs a repository`, async () => {
    const { observations, rewards, last } = await playAgent(
      options,
      folders,
      (_, turn) => answers[turn] ?? assistant(),
    );
    expect(observations[0]?.messages.map(messageText).join("\n")).toContain("Repair median.py");
    expect(JSON.stringify(observations.at(-1)?.messages.at(-1))).toContain("passed");
    expect([rewards, observations.length, last.terminated]).toEqual([[1], 3, { "agent#1": true }]);
  });

  test(`${name} earns nothing by an answer alone`, async () => {
    const { rewards } = await playAgent(options, folders, () => answers.at(-1) ?? assistant());
    expect(rewards).toEqual([0]);
  });
}
