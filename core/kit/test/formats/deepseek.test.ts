import { checkTable } from "./check-table.ts";
import { JSON_FAULTS } from "./json-faults.ts";

const [BEGIN, END] = ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"];
const [CALL, SEPARATOR, CALL_END] = ["<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"];
const plain = (name: string, given: string): string => `${CALL}${name}${SEPARATOR}${given}${CALL_END}`;
const fenced = (name: string, given: string): string =>
  `${CALL}function${SEPARATOR}${name}\n\`\`\`json\n${given}\n\`\`\`${CALL_END}`;
const section = (...calls: readonly string[]): string => `${BEGIN}${calls.join("")}${END}`;

checkTable("deepseek", {
  calls: [
    [section(fenced("f", '{"a": "字"}')), ["f", { a: "字" }]],
    [`${BEGIN}${fenced("f", "{}")}\n${fenced("g", '{"a": "```"}')}${END}`, ["f", {}], ["g", { a: "```" }]],
    [section(plain("f", '{"a": [1]}'), plain("g", "{}")), ["f", { a: [1] }], ["g", {}]],
    [section(plain("function", "{}")), ["function", {}]],
  ],
  malformed: [
    ...JSON_FAULTS.map(([json, error]) => [section(plain("f", json)), error] as const),
    ...JSON_FAULTS.slice(0, 3).map(([json, error]) => [section(fenced("f", json)), error] as const),
    [BEGIN, `The call has no end: "${END}" is missing.`],
    [BEGIN + plain("f", "{}"), `The call has no end: "${END}" is missing.`],
    [`${BEGIN}‸${END}`, "The section has no call."],
    [`${BEGIN}‸f${END}`, `Expected "${CALL}" or "${END}", found "f".`],
    [section(plain("f", "{}"), "‸;", plain("g", "{}")), `Expected "${CALL}" or "${END}", found ";".`],
    [section(`${CALL}‸f{}${CALL_END}`), `The call has no "${SEPARATOR}".`],
    [section(plain("‸", "{}")), "The name of the tool is empty."],
    [section(plain("‸f g", "{}")), 'The name "f g" of a tool has white space.'],
    [section(plain("f", "‸")), `Expected a value, found the token "${CALL_END}".`],
    [section(plain("f", '‸"{}"')), '"f" has a string instead of a JSON object.'],
    [section(plain("f", "‸[]")), '"f" has an array instead of a JSON object.'],
    [section(plain("f", "{} ‸{}")), `Expected "${CALL_END}" after the arguments, found "{".`],
    [section(`${CALL}f${SEPARATOR}{}‸`), `Expected "${CALL_END}" after the arguments, found the token "${END}".`],
    [section(plain("f", `{"a": "‸${SEPARATOR}"}`)), `Found the token "${SEPARATOR}" in a string.`],
    [section(`${CALL}function${SEPARATOR}‸f${CALL_END}`), "The call has no line break after its name."],
    [section(`${CALL}function${SEPARATOR}f\n‸{}\n${CALL_END}`), 'Expected "```json" before the arguments, found "{".'],
    [
      section(`${CALL}function${SEPARATOR}f\n‸\`\`\`\n{}\n\`\`\`${CALL_END}`),
      'Expected "```json" before the arguments, found "`".',
    ],
    [
      section(`${CALL}function${SEPARATOR}f\n\`\`\`json\n{}\n‸${CALL_END}`),
      `Expected "\`\`\`" after the arguments, found the token "${CALL_END}".`,
    ],
    [section(fenced("‸f g", "{}")), 'The name "f g" of a tool has white space.'],
    [section(fenced("f", "‸[]")), '"f" has an array instead of a JSON object.'],
    [`‸${CALL}f${SEPARATOR}{}${CALL_END}`, `"${CALL}" stands outside "${BEGIN}" and "${END}".`],
    [`‸${SEPARATOR}`, `"${SEPARATOR}" stands outside "${BEGIN}" and "${END}".`],
    [`‸${CALL_END}`, `"${CALL_END}" stands outside "${BEGIN}" and "${END}".`],
    [`‸${END}`, `"${END}" stands outside "${BEGIN}" and "${END}".`],
  ],
});
