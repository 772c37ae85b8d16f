import { checkTable } from "./check-table.ts";
import { JSON_FAULTS } from "./json-faults.ts";

const call = (given: string): string => `{"name": "f", "parameters": ${given}}`;
const tag = (text: string): string => `<|python_tag|>${text}`;

checkTable("llama-json", {
  calls: [
    [call("{}"), ["f", {}]],
    [tag(call('{"a": "字;"}')), ["f", { a: "字;" }]],
    [`\n{ "type": "function",\n "name": "g", "parameters": {"a": null} }\n`, ["g", { a: null }]],
    [`${call("{}")}; ${call('{"a": 1}')};${call("{}")}`, ["f", {}], ["f", { a: 1 }], ["f", {}]],
    ['{"name": "f", "arguments": {}}', ["f", {}]],
    ['{"parameters": {}, "name": "f"}', ["f", {}]],
  ],
  malformed: [
    ...JSON_FAULTS.map(([json, error]) => [call(json), error] as const),
    ...JSON_FAULTS.slice(0, 2).map(([json, error]) => [tag(call(json)), error] as const),
    [tag(""), "Expected a call as a JSON object, found the end of the call."],
    [tag("‸f()"), 'Expected a call as a JSON object, found "f".'],
    [tag('‸brave_search.call(query="a")'), 'Expected a call as a JSON object, found "b".'],
    [tag(`‸[${call("{}")}]`), 'Expected a call as a JSON object, found "[".'],
    ['{"name"', 'Expected ":" after the key "name", found the end of the call.'],
    ['{"name": "f"', 'Expected "," or "}" after a value, found the end of the call.'],
    ['{"name": ‸"f', "A string has no closing quotation mark."],
    ['{"name": "f", "parameters": {', "Expected a key in double quotes, found the end of the call."],
    ['{"name": "f", "parameters": {}', 'Expected "," or "}" after a value, found the end of the call.'],
    ['‸{"name": "f"}', 'The call of "f" has no arguments.'],
    ['‸{"parameters": {}}', "The call has no name."],
    ['{"name": ‸1, "parameters": {}}', '"name" is a number, not a string.'],
    ['{"name": ‸"", "parameters": {}}', "The name of the tool is empty."],
    ['{"name": "f", "parameters": ‸[]}', '"parameters" has an array instead of a JSON object.'],
    ['{"name": "f", "parameters": ‸"{}"}', '"parameters" has a string instead of a JSON object.'],
    ['{"name": "f", "parameters": {}, ‸"arguments": {}}', "A call has both arguments and parameters."],
    ['{"name": "f", ‸"age": 3}', 'A call has no key "age".'],
    ['{"type": "function", ‸"function": {}}', 'A call has no key "function".'],
    [`${call("{}")} ‸So`, 'Expected the end of the calls, found "S".'],
    [`${call("{}")}‸, ${call("{}")}`, 'Expected the end of the calls, found ",".'],
    [`${call("{}")}\n‸${call("{}")}`, 'Two calls have no ";" between them.'],
    [`${call("{}")};`, "Expected a call as a JSON object, found the end of the call."],
    [`${call("{}")}; ‸So`, 'Expected a call as a JSON object, found "S".'],
    [tag(`‸${tag(call("{}"))}`), 'Expected a call as a JSON object, found the token "<|python_tag|>".'],
  ],
});
