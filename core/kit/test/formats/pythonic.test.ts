import { checkTable } from "./check-table.ts";
import { PYTHON_CALLS, PYTHON_FAULTS } from "./python-faults.ts";

checkTable("pythonic", {
  calls: [...PYTHON_CALLS, ["<|tool_call_start|>[f()]<|tool_call_end|>", ["f", {}]]] as never,
  malformed: [
    ...PYTHON_FAULTS,
    ["<|tool_call_start|>[f()]", 'The call has no end: "<|tool_call_end|>" is missing.'],
    ["<|tool_call_start|>‸[]<|tool_call_end|>", "The list has no call."],
    ["<|tool_call_start|>‸f()<|tool_call_end|>", 'Expected "[" at the start, found "f".'],
    ["<|tool_call_start|>[f()] ‸So<|tool_call_end|>", 'Expected "<|tool_call_end|>" after the list, found "S".'],
  ],
});
