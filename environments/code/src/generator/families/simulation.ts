import type { RandomStream } from "@mrlm/kit";
import { type Family, type Sketch, sketch } from "../sketch.ts";

/** Makes a problem: a walk in the plane, by letters. */
function walk(random: RandomStream, difficulty: number): Sketch {
  const letters = random.shuffle([..."abcdefgh"]).slice(0, difficulty < 4 ? 3 : 4);
  const moves = letters.map(() => [random.integer(-4, 5), random.integer(-4, 5)] as const);
  const bound = difficulty >= 5 ? random.integer(5, 12) : 0;
  const clamp = (value: number): number => (bound === 0 ? value : Math.min(bound, Math.max(-bound, value)));
  const python = (v: string): string => (bound === 0 ? v : `max(-${bound}, min(${bound}, ${v}))`);
  const typescript = (v: string): string => (bound === 0 ? v : `Math.max(-${bound}, Math.min(${bound}, ${v}))`);
  return sketch<[string]>({
    name: "walk",
    parameters: [["path", "str"]],
    returns: "ints",
    prose: `A robot begins at (0, 0). Each letter of the path moves it by an amount in x and y: ${letters.map((letter, i) => `${letter} by (${moves[i]?.join(", ")})`).join(", ")}.${bound > 0 ? ` After each move, a coordinate above ${bound} becomes ${bound} and one below -${bound} becomes -${bound}.` : ""} Return the list [x, y] of where it ends.`,
    terse: `${letters.map((letter, i) => `${letter} ${moves[i]?.join(" ")}`).join(";")}${bound > 0 ? `;wall ${bound}` : ""}`, // words: quoted
    python: [
      `moves = {${letters.map((letter, i) => `"${letter}": (${moves[i]?.join(", ")})`).join(", ")}}`,
      "x_end = y_end = 0",
      "for letter in path:",
      "    dx, dy = moves[letter]",
      `    x_end, y_end = ${python("x_end + dx")}, ${python("y_end + dy")}`,
      "return [x_end, y_end]",
    ],
    typescript: [
      `const moves: Record<string, number[]> = { ${letters.map((letter, i) => `${letter}: [${moves[i]?.join(", ")}]`).join(", ")} };`,
      "let [xEnd, yEnd] = [0, 0];",
      "for (const letter of path) {",
      "    const [dx, dy] = moves[letter];",
      `    [xEnd, yEnd] = [${typescript("xEnd + dx")}, ${typescript("yEnd + dy")}];`,
      "}",
      "return [xEnd, yEnd];",
    ],
    solve: (path) =>
      [...path].reduce<number[]>(
        (at, letter) =>
          at.map((value, axis) =>
            clamp(value + ((moves[letters.indexOf(letter)] as readonly number[])[axis] as number)),
          ),
        [0, 0],
      ),
    draw: (stream) => [Array.from({ length: stream.integer(1, 9) }, () => stream.pick(letters)).join("")],
    edges: [[""]],
  });
}

/** Makes a problem: an account with a fee and a floor. */
function account(random: RandomStream, difficulty: number): Sketch {
  const [start, fee] = [random.integer(0, 60), random.integer(1, 6)];
  const bonus = difficulty >= 6 ? random.integer(2, 10) : 0;
  const every = random.integer(2, 4);
  return sketch<[readonly number[]]>({
    name: "balance",
    parameters: [["changes", "ints"]],
    returns: "int",
    prose: `An account holds ${start} to begin with. Each change is added to it in turn; a negative change also costs a fee of ${fee}. A negative change that would bring the account, fee included, below 0 is left out.${bonus > 0 ? ` After every ${every === 2 ? "second" : every === 3 ? "third" : "fourth"} change of the list, left out or not, ${bonus} is added.` : ""} Return what the account holds at the end.`,
    terse: `account ${start} fee ${fee}${bonus > 0 ? ` every ${every} +${bonus}` : ""}`,
    python: [
      `total = ${start}`,
      "for i, change in enumerate(changes):",
      `    cost = change - ${fee} if change < 0 else change`,
      "    if change >= 0 or total + cost >= 0:",
      "        total += cost",
      ...(bonus > 0 ? [`    if (i + 1) % ${every} == 0:`, `        total += ${bonus}`] : []),
      "return total",
    ],
    typescript: [
      `let total = ${start};`,
      "changes.forEach((change, i) => {",
      `    const cost = change < 0 ? change - ${fee} : change;`,
      "    if (change >= 0 || total + cost >= 0) total += cost;",
      ...(bonus > 0 ? [`    if ((i + 1) % ${every} === 0) total += ${bonus};`] : []),
      "});",
      "return total;",
    ],
    solve(changes) {
      let total = start;
      for (const [i, change] of changes.entries()) {
        const after = total + change - (change < 0 ? fee : 0);
        if (after >= 0) total = after;
        if (bonus > 0 && i % every === every - 1) total += bonus;
      }
      return total;
    },
    draw: (stream) => [Array.from({ length: stream.integer(1, 9) }, () => stream.integer(-40, 40))],
    edges: [[[]], [[-100]]],
  });
}

/** Makes a problem: a stack machine. */
function stack(random: RandomStream): Sketch {
  const [add, copy, drop, twist] = random.shuffle(["add", "dup", "pop", "swap", "inc", "mix", "cut", "top"]) as [
    string,
    string,
    string,
    string,
  ];
  const [k, m] = [random.integer(1, 9), random.integer(20, 99)];
  return sketch<[readonly string[]]>({
    name: "run_stack",
    parameters: [["commands", "strs"]],
    returns: "ints",
    prose: `Run the commands on a stack of integers that is empty to begin with. A command that is an integer is pushed. "${add}" replaces the two topmost numbers by their sum plus ${k}, modulo ${m}; "${copy}" pushes the topmost number again; "${drop}" removes the topmost number; "${twist}" swaps the two topmost numbers. A command that finds too few numbers does nothing. Return the stack from bottom to top.`,
    terse: `stack ${add}=+${k}%${m} ${copy}=dup ${drop}=pop ${twist}=swap`,
    python: [
      "stack = []",
      "for command in commands:",
      `    if command == "${add}":`,
      "        if len(stack) > 1:",
      `            stack.append((stack.pop() + stack.pop() + ${k}) % ${m})`,
      `    elif command == "${copy}":`,
      "        stack += stack[-1:]",
      `    elif command == "${drop}":`,
      "        stack = stack[:-1]",
      `    elif command == "${twist}":`,
      "        stack[-2:] = stack[-2:][::-1]",
      "    else:",
      "        stack.append(int(command))",
      "return stack",
    ],
    typescript: [
      "const stack: number[] = [];",
      "for (const command of commands) {",
      `    if (command === "${add}") {`,
      `        if (stack.length > 1) stack.push((stack.pop()! + stack.pop()! + ${k}) % ${m});`,
      `    } else if (command === "${copy}") stack.push(...stack.slice(-1));`,
      `    else if (command === "${drop}") stack.pop();`,
      `    else if (command === "${twist}") stack.push(...stack.splice(-2).reverse());`,
      "    else stack.push(Number(command));",
      "}",
      "return stack;",
    ],
    solve: (commands) =>
      commands.reduce<readonly number[]>((held, command) => {
        const [a, b] = [held.at(-1), held.at(-2)];
        if (/^\d+$/.test(command)) return [...held, Number(command)];
        if (a === undefined || (b === undefined && (command === add || command === twist))) return held;
        if (command === copy) return [...held, a];
        if (command === drop) return held.slice(0, -1);
        return command === add
          ? [...held.slice(0, -2), (a + (b as number) + k) % m]
          : [...held.slice(0, -2), a, b as number];
      }, []),
    draw: (stream) => [
      Array.from({ length: stream.integer(2, 9) }, () =>
        stream.next() < 0.5 ? String(stream.integer(0, 60)) : stream.pick([add, copy, drop, twist]),
      ),
    ],
    edges: [[[]], [[add]]],
  });
}

/** Small machines with a state. */
export const simulation: Family = {
  name: "simulation",
  generate: (random, difficulty) =>
    random.pick(difficulty < 5 ? [walk, account] : [walk, account, stack])(random, difficulty),
};
