import { checkTable } from "./check-table.ts";
import { PYTHON_CALLS, PYTHON_FAULTS } from "./python-faults.ts";

const [BEGIN, END] = ["<|python_start|>", "<|python_end|>"];

checkTable("llama-pythonic", {
  calls: [
    ...PYTHON_CALLS,
    [`${BEGIN}[f(a=1)]${END}`, ["f", { a: 1 }]],
    ["<|python_tag|>[f(), f()]", ["f", {}], ["f", {}]],
  ] as never,
  malformed: [
    ...PYTHON_FAULTS,
    [`${BEGIN}[f()]`, `The call has no end: "${END}" is missing.`],
    [`${BEGIN}‸[]${END}`, "The list has no call."],
    [`${BEGIN}[f(a=‸true)]${END}`, '"true" is not a literal of Python: write True.'],
    [`${BEGIN}[f(a="‸${BEGIN}")]${END}`, `Found the token "${BEGIN}" in a string.`],
    [`${BEGIN}[f()]‸;${END}`, `Expected "${END}" after the list, found ";".`],
    ["<|python_tag|>‸f()", 'Expected "[" at the start, found "f".'],
    ["<|python_tag|>", 'Expected "[" at the start, found the end of the call.'],
    [`‸${END}`, `"${END}" stands outside a call.`],
  ],
});
