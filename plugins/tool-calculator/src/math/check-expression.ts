import type { AssignmentNode, FunctionNode, MathNode, OperatorNode, SymbolNode } from "mathjs";
import { math } from "./instance.ts";
import { InvalidExpression } from "./invalid-expression.ts";
import { CONSTANTS, EXACT_FUNCTIONS, FUNCTIONS, NUMBERS } from "./names.ts";

/** Functions that mathjs' page on security disables, and those that draw random numbers: they have an error of their own. */
const DISABLED = new Set(
  `import createUnit reviver evaluate parse simplify derivative resolve config typed parser compile help rationalize
  simplifyCore simplifyConstant symbolicEqual leafCount replacer random randomInt pickRandom`.split(/\s+/),
);

/** Nodes without a rule of their own. */
const PERMITTED = new Set([
  "ArrayNode",
  "BlockNode",
  "ConditionalNode",
  "IndexNode",
  "ParenthesisNode",
  "RangeNode",
  "RelationalNode",
]);

/**
 * Throws InvalidExpression unless the expression consists of numbers, operators, matrices, units, variables and the functions and constants of
 * `names.ts`. A function is reachable only through one of these names.
 * @returns whether all parts of the expression are exact for integers and fractions
 */
export function checkExpression(root: MathNode): boolean {
  const variables = new Set<string>();
  root.traverse((node) => {
    if (node.type === "AssignmentNode" && (node as AssignmentNode).object.type === "SymbolNode") {
      variables.add(((node as AssignmentNode).object as SymbolNode).name);
    }
  });
  let isExact = true;
  root.traverse((node, path, parent) => {
    if (!checkNode(node, variables)) isExact = false;
    if (node.type === "SymbolNode") checkFunction((node as SymbolNode).name, path, parent);
  });
  return isExact;
}

/** Checks one node without its children. Returns whether it is exact. */
function checkNode(node: MathNode, variables: ReadonlySet<string>): boolean {
  switch (node.type) {
    case "ConstantNode":
      return checkConstant((node as unknown as { value: unknown }).value);
    case "SymbolNode":
      return checkName((node as SymbolNode).name, variables);
    case "OperatorNode":
      return EXACT_FUNCTIONS.has((node as OperatorNode).fn as unknown as string);
    case "FunctionNode":
      if ((node as FunctionNode).fn.type !== "SymbolNode") {
        throw new InvalidExpression("Only a function can be called, by its name: sqrt(2)");
      }
      return true;
    case "AssignmentNode":
    case "AccessorNode":
      if ((node as unknown as { index: { isObjectProperty(): boolean } | null }).index?.isObjectProperty()) {
        throw new InvalidExpression("Properties are not supported. Use an index, such as a[1, 2]");
      }
      return true;
    case "FunctionAssignmentNode":
      throw new InvalidExpression("Functions cannot be defined. Write the expression itself");
    case "ObjectNode":
      throw new InvalidExpression("Objects are not supported. Use numbers, units and matrices");
    default:
      if (PERMITTED.has(node.type)) return true;
      throw new InvalidExpression(`Expressions of the kind ${node.type} are not supported`);
  }
}

/**
 * Throws InvalidExpression for the name of a function that is neither called nor applied by `map`. Functions that receive the nodes of their arguments
 * (`rawArgs`) can only be called: applied to values, they would take them for nodes.
 */
function checkFunction(name: string, path: string, parent: MathNode | undefined): void {
  if (!FUNCTIONS.has(name) || path === "fn") return;
  const isApplied =
    parent?.type === "FunctionNode" && ((parent as FunctionNode).fn as unknown as SymbolNode).name === "map";
  const { rawArgs } = math.expression.mathWithTransform[name] as { rawArgs?: boolean };
  if (!isApplied || rawArgs === true) {
    throw new InvalidExpression(`${name} is a function. Call it: ${name}(...)`);
  }
}

function checkConstant(value: unknown): boolean {
  if (typeof value === "string") throw new InvalidExpression("Text is not supported. Use numbers, units and matrices");
  return typeof value !== "number";
}

function checkName(name: string, variables: ReadonlySet<string>): boolean {
  if (DISABLED.has(name)) throw new InvalidExpression(`The function ${name} is disabled`);
  if (variables.has(name)) {
    if (FUNCTIONS.has(name) || CONSTANTS.has(name) || NUMBERS.has(name)) {
      throw new InvalidExpression(`The name ${name} is taken. Choose another name for the variable`);
    }
    return true;
  }
  if (EXACT_FUNCTIONS.has(name) || name === "true" || name === "false" || name === "end") return true;
  if (FUNCTIONS.has(name) || NUMBERS.has(name) || CONSTANTS.has(name)) return false;
  const isOfLibrary = name in math.expression.mathWithTransform;
  if (!isOfLibrary && math.Unit.isValuelessUnit(name)) return false;
  throw new InvalidExpression(`Unknown name ${name}: it is no function, constant, unit or variable of this expression`);
}
