import { checkTable } from "./check-table.ts";
import { JSON_FAULTS } from "./json-faults.ts";

const wrap = (json: string): string => `<tool_call>\n${json}\n</tool_call>`;

checkTable("hermes", {
  calls: [
    [wrap('{"name": "f", "arguments": {}}'), ["f", {}]],
    [wrap('{"arguments": {"a": [1, -2.5e3, null, true]}, "name": "f"}'), ["f", { a: [1, -2500, null, true] }]],
    [wrap('{"name": "f", "parameters": {"a": "\\u00e9\\n\\"字😀"}}'), ["f", { a: 'é\n"字😀' }]],
    [
      wrap('{"type": "function", "name": "a__b-c", "arguments": {"__proto__": 1}}'),
      ["a__b-c", JSON.parse('{"__proto__": 1}')],
    ],
    ['<tool_call>{"name":"f","arguments":{}}</tool_call>', ["f", {}]],
    [`${wrap('{"name": "f", "arguments": {}}')}\n${wrap('{"name": "g", "arguments": {}}')}`, ["f", {}], ["g", {}]],
    [wrap('{"name": "f", "arguments": {"a": "<tool_call>"}}'), ["f", { a: "<tool_call>" }]],
  ],
  malformed: [
    ...JSON_FAULTS.map(([json, error]) => [wrap(`{"name": "f", "arguments": ${json}}`), error] as const),
    ["<tool_call>", 'The call has no end: "</tool_call>" is missing.'],
    ['<tool_call>\n{"name": "f", "arguments": {}}', 'The call has no end: "</tool_call>" is missing.'],
    ['<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call', 'The call has no end: "</tool_call>" is missing.'],
    ["<tool_call>‸</tool_call>", 'Expected a call as a JSON object, found "<".'],
    [wrap("‸f()"), 'Expected a call as a JSON object, found "f".'],
    [wrap('‸[{"name": "f", "arguments": {}}]'), 'Expected a call as a JSON object, found "[".'],
    [wrap('‸{"arguments": {}}'), "The call has no name."],
    [wrap('‸{"name": "f"}'), 'The call of "f" has no arguments.'],
    [wrap("‸{}"), "The call has no name."],
    [wrap('{"name": ‸1, "arguments": {}}'), '"name" is a number, not a string.'],
    [wrap('{"name": ‸null, "arguments": {}}'), '"name" is null, not a string.'],
    [wrap('{"name": ‸"", "arguments": {}}'), "The name of the tool is empty."],
    [wrap('{"name": ‸"f g", "arguments": {}}'), 'The name "f g" of a tool has white space.'],
    [wrap('{"name": "f", "arguments": ‸"{}"}'), '"arguments" has a string instead of a JSON object.'],
    [wrap('{"name": "f", "arguments": ‸[]}'), '"arguments" has an array instead of a JSON object.'],
    [wrap('{"name": "f", "parameters": ‸null}'), '"parameters" has null instead of a JSON object.'],
    [wrap('{"name": "f", "arguments": {}, ‸"parameters": {}}'), "A call has both arguments and parameters."],
    [wrap('{"name": "f", "arguments": {}, ‸"thought": "a"}'), 'A call has no key "thought".'],
    [wrap('{"type": ‸"tool", "name": "f", "arguments": {}}'), 'The type "tool" is not "function".'],
    [
      '<tool_call>{"name": "f", "arguments": {}} ‸{}</tool_call>',
      'Expected "</tool_call>" after the JSON object, found "{".',
    ],
    ['<tool_call>{"name": "f", "arguments": {}‸</tool_call>', 'Expected "," or "}" after a value, found "<".'],
    ['<tool_call>{"name": "f", "arguments": {"a": ‸"</tool_call>', "A string has no closing quotation mark."],
    ['<tool_call>{"name": "f", "arguments": {"a": ‸b\u0000}}</tool_call>', '"b" is not a value of JSON.'],
    [
      '<tool_call>‸<tool_call>{"name": "f", "arguments": {}}</tool_call>',
      'Expected a call as a JSON object, found "<".',
    ],
  ],
});
