import { checkTable } from "./check-table.ts";
import { JSON_FAULTS } from "./json-faults.ts";

const list = (...calls: readonly string[]): string => `[TOOL_CALLS][${calls.join(", ")}]`;
const named = (given: string): string => `{"name": "f", "arguments": ${given}}`;

checkTable("mistral", {
  calls: [
    [list(named("{}")), ["f", {}]],
    [` ${list(named('{"a": "[ARG"}'), named("{}"))}`.trim(), ["f", { a: "[ARG" }], ["f", {}]],
    ['[TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "aB3dE5f7G"}]\n', ["f", {}]],
    ['[TOOL_CALLS]f[ARGS]{"a": "字"}', ["f", { a: "字" }]],
    ["[TOOL_CALLS]f[CALL_ID]aB3dE5f7G[ARGS]{}[TOOL_CALLS]g[ARGS] {}", ["f", {}], ["g", {}]],
  ],
  malformed: [
    ...JSON_FAULTS.map(([json, error]) => [`[TOOL_CALLS]f[ARGS]${json}`, error] as const),
    ...JSON_FAULTS.slice(0, 4).map(([json, error]) => [list(named(json)), error] as const),
    ["[TOOL_CALLS]", 'The call has no "[ARGS]" after its name.'],
    ["[TOOL_CALLS]‸f", 'The call has no "[ARGS]" after its name.'],
    ['[TOOL_CALLS]‸f{"a": 1}', 'The call has no "[ARGS]" after its name.'],
    ["[TOOL_CALLS]‸[ARGS]{}", "The name of the tool is empty."],
    ["[TOOL_CALLS]‸f g[ARGS]{}", 'The name "f g" of a tool has white space.'],
    ["[TOOL_CALLS]f[ARGS]", "Expected arguments as a JSON object, found the end of the call."],
    ["[TOOL_CALLS]f[ARGS]‸[]", '"f" has an array instead of a JSON object.'],
    ['[TOOL_CALLS]f[ARGS]‸"{}"', '"f" has a string instead of a JSON object.'],
    ["[TOOL_CALLS]f[ARGS]{} ‸So", 'Expected the end of the calls, found "S".'],
    ["[TOOL_CALLS]f[ARGS]{}‸[ARGS]{}", 'Expected the end of the calls, found the token "[ARGS]".'],
    ["[TOOL_CALLS]f[CALL_ID]‸a1[ARGS]{}", 'The id "a1" does not have 9 letters or digits.'],
    ["[TOOL_CALLS]f[CALL_ID]‸aB3dE5f7-[ARGS]{}", 'The id "aB3dE5f7-" does not have 9 letters or digits.'],
    ["[TOOL_CALLS]f[CALL_ID]‸aB3dE5f7G{}", 'The call has no "[ARGS]" after its id.'],
    ['[TOOL_CALLS]f[ARGS]{"a": "‸[ARGS]"}', 'Found the token "[ARGS]" in a string.'],
    ["[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]‸[TOOL_CALLS]", 'The call has no "[ARGS]" after its name.'],
    ["[TOOL_CALLS]‸[]", "The list has no call."],
    [`[TOOL_CALLS][${named("{}")}`, 'Expected "," or "]" after an element, found the end of the call.'],
    [`[TOOL_CALLS][${named("{}")}, ‸]`, 'A comma stands before "]".'],
    [`[TOOL_CALLS][${named("{}")} ‸${named("{}")}]`, 'Expected "," or "]" after an element, found "{".'],
    ["[TOOL_CALLS][‸f()]", 'Expected a call as a JSON object, found "f".'],
    [`${list(named("{}"))} ‸So`, 'Expected the end of the calls, found "S".'],
    [list('‸{"name": "f"}'), 'The call of "f" has no arguments.'],
    [list('‸{"arguments": {}}'), "The call has no name."],
    [list('{"name": "f", "arguments": {}, "id": ‸7}'), '"id" is a number, not a string.'],
    ['[TOOL_CALLS]‸{"name": "f", "arguments": {}}', 'The call has no "[ARGS]" after its name.'],
    ["‸[ARGS]", '"[ARGS]" stands outside a call.'],
    ["‸[CALL_ID]", '"[CALL_ID]" stands outside a call.'],
  ],
});
