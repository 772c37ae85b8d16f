import { checkTable } from "./check-table.ts";
import { JSON_FAULTS } from "./json-faults.ts";

const [BEGIN, END] = ["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"];
const [CALL, ARGUMENTS, CALL_END] = ["<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"];
const call = (id: string, given: string): string => `${CALL}${id}${ARGUMENTS}${given}${CALL_END}`;
const section = (...calls: readonly string[]): string => `${BEGIN}${calls.join("")}${END}`;

checkTable("kimi", {
  calls: [
    [section(call("functions.f:0", "{}")), ["f", {}]],
    [section(call("functions.f:3", '{"a": "字"}'), call("functions.g-1:4", "{}")), ["f", { a: "字" }], ["g-1", {}]],
    [`${BEGIN}\n${call(" functions.a.b:12 ", ' {"a": 1} ')}\n${END}`, ["a.b", { a: 1 }]],
    [section(call("functions.f:0", '{"a": ":1"}')), ["f", { a: ":1" }]],
  ],
  malformed: [
    ...JSON_FAULTS.map(([json, error]) => [section(call("functions.f:0", json)), error] as const),
    [BEGIN, `The call has no end: "${END}" is missing.`],
    [BEGIN + call("functions.f:0", "{}"), `The call has no end: "${END}" is missing.`],
    [`${BEGIN}‸${END}`, "The section has no call."],
    [`${BEGIN}‸functions.f:0${END}`, `Expected "${CALL}" or "${END}", found "f".`],
    [
      section(call("functions.f:0", "{}"), "‸,", call("functions.g:1", "{}")),
      `Expected "${CALL}" or "${END}", found ",".`,
    ],
    [section(call("‸f:0", "{}")), 'The id "f:0" does not begin with "functions.".'],
    [section(call("‸functions.f", "{}")), 'The id "functions.f" does not end with ":" and the number of the call.'],
    [section(call("‸functions.f:", "{}")), 'The id "functions.f:" does not end with ":" and the number of the call.'],
    [section(call("‸functions.f:a", "{}")), 'The id "functions.f:a" does not end with ":" and the number of the call.'],
    [section(call("functions.‸:0", "{}")), "The name of the tool is empty."],
    [section(call("functions.‸f g:0", "{}")), 'The name "f g" of a tool has white space.'],
    [section(call("‸", "{}")), 'The id "" does not begin with "functions.".'],
    [section(`${CALL}‸functions.f:0{}${CALL_END}`), `The call has no "${ARGUMENTS}".`],
    [section(`${CALL}functions.f:0${ARGUMENTS}‸${CALL_END}`), `Expected a value, found the token "${CALL_END}".`],
    [
      section(`${CALL}functions.f:0${ARGUMENTS}{}‸`),
      `Expected "${CALL_END}" after the arguments, found the token "${END}".`,
    ],
    [section(call("functions.f:0", '‸"{}"')), '"f" has a string instead of a JSON object.'],
    [section(call("functions.f:0", "‸[]")), '"f" has an array instead of a JSON object.'],
    [section(call("functions.f:0", "‸null")), '"f" has null instead of a JSON object.'],
    [section(call("functions.f:0", "{} ‸{}")), `Expected "${CALL_END}" after the arguments, found "{".`],
    [section(call("functions.f:0", `{"a": "‸${CALL}"}`)), `Found the token "${CALL}" in a string.`],
    [`‸${CALL}functions.f:0${ARGUMENTS}{}${CALL_END}`, `"${CALL}" stands outside "${BEGIN}" and "${END}".`],
    [`‸${ARGUMENTS}`, `"${ARGUMENTS}" stands outside "${BEGIN}" and "${END}".`],
    [`‸${CALL_END}`, `"${CALL_END}" stands outside "${BEGIN}" and "${END}".`],
    [`‸${END}`, `"${END}" stands outside "${BEGIN}" and "${END}".`],
    [
      `${BEGIN}‸${BEGIN}${call("functions.f:0", "{}")}${END}`,
      `Expected "${CALL}" or "${END}", found the token "${BEGIN}".`,
    ],
    [
      section(`${CALL}‸${CALL}functions.f:0${ARGUMENTS}{}${CALL_END}`),
      `The id "${CALL}functions.f:0" does not begin with "functions.".`,
    ],
  ],
});
