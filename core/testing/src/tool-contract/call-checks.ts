import assert from "node:assert/strict";
import type { JsonObject, JsonValue, ToolCallExample, ToolDefinition } from "@mrlm/spec";
import { settles } from "../provision/settles.ts";
import { Defect } from "../check/defect.ts";
import { compileSchema, PARAMETERS } from "../check/compile-schema.ts";
import { call, callAll, openEpisode, textOf, type ToolCheck, type ToolSubject, withEpisode } from "./tool-subject.ts";

/** Checks of single calls: results, invalid arguments, abort. */
export const callChecks: readonly ToolCheck[] = [
  {
    code: "TOOL_CALL_FAILED",
    name: "answers each sample call",
    run: (subject) => withEpisode(subject, async (opened) => void (await callAll(subject, opened))),
  },
  {
    code: "TOOL_ARGUMENTS_ACCEPTED",
    name: "reports invalid arguments of each kind as a result that the policy reads",
    run: (subject) =>
      withEpisode(subject, async (opened) => {
        for (const tool of opened.tools) {
          const sample = subject.calls.find((each) => each.tool === tool.name)?.args ?? {};
          for (const args of invalidArguments(tool, sample)) {
            const result = await call(opened, { tool: tool.name, args });
            const shown = `${tool.name}(${JSON.stringify(args)})`;
            assert(result.isError, `${shown} does not match the parameters and was accepted.`);
            assert(textOf(result).length > 0, `${shown} failed without a text.`);
          }
        }
        await callAll(subject, opened);
      }),
  },
  {
    code: "CALL_ABORT_IGNORED",
    name: "ends a call whose signal is aborted, before or during it",
    run: async (subject) => {
      const sample = slowCall(subject);
      await withEpisode(subject, async (opened) => {
        const late = call(opened, sample, AbortSignal.abort());
        const isFulfilled = await settles("A call with an aborted signal", late, sample.tool);
        if (subject.slow !== subject.calls.at(-1)) assert(!isFulfilled, "A call with an aborted signal was fulfilled.");
      });
      await withEpisode(subject, async (opened) => {
        const controller = new AbortController();
        const running = call(opened, sample, controller.signal);
        setTimeout(() => controller.abort(), 20);
        await settles("A call that was aborted", running, sample.tool);
      });
      await withEpisode(subject, async (opened) => void (await callAll(subject, opened)));
    },
  },
  {
    code: "CALL_ABORT_IGNORED",
    name: "closes while a call runs, and the call ends",
    run: async (subject) => {
      const opened = await openEpisode(subject);
      const controller = new AbortController();
      const sample = slowCall(subject);
      const running = call(opened, sample, controller.signal);
      running.catch(() => undefined);
      // A host aborts the signal of a call and closes its episode without waiting for the call.
      controller.abort();
      await settles("Closing an episode", opened.close());
      await settles("A call in a closed episode", running, sample.tool);
      await withEpisode(subject, async (other) => void (await callAll(subject, other)));
    },
  },
];

function slowCall({ slow }: ToolSubject): ToolCallExample {
  if (slow === undefined) throw new Defect("EXAMPLES_INVALID", "`calls` is empty.");
  return slow;
}

const VALUES: readonly JsonValue[] = [null, {}, [], "text", 0.5, true, -1e9, [null]];

/** Returns arguments that the schema of a tool rejects: another type than an object, a missing or an unknown key, and a wrong value for each key. */
function invalidArguments({ parameters }: ToolDefinition, sample: JsonObject): JsonObject[] {
  const validate = compileSchema(parameters, PARAMETERS);
  const required = Array.isArray(parameters["required"]) ? (parameters["required"] as readonly string[]) : [];
  const candidates: JsonValue[] = [
    null,
    "text",
    [],
    ...required.map((key) => Object.fromEntries(Object.entries(sample).filter(([name]) => name !== key))),
    { ...sample, "no such argument": 1 },
    ...Object.keys((parameters["properties"] ?? {}) as JsonObject).flatMap((key) => {
      const wrong = VALUES.find((value) => !validate({ ...sample, [key]: value }));
      return wrong === undefined ? [] : [{ ...sample, [key]: wrong }];
    }),
  ];
  return candidates.filter((candidate) => !validate(candidate)) as JsonObject[];
}
