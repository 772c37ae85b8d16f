import { readFileSync } from "node:fs";
import { randomStream } from "@mrlm/kit";
import type { RandomStream } from "@mrlm/spec";
import { type Fault, type Module, MODULES } from "./modules.ts";

/** Task with a planted fault: its files by path. */
export interface RepairTask {
  readonly name: string;
  readonly module: Module;
  readonly fault: Fault;
  readonly files: Readonly<Record<string, string>>;
}

/** Commit of a history: its message, and the files that it writes. */
type Commit = readonly [message: string, files: Readonly<Record<string, string>>];

const example = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** Returns task number `index` of a seed. Equal arguments give equal bytes. */
export function repairTask(seed: number, index: number): RepairTask {
  const random = randomStream(`harbor/repair/${index}`, seed);
  const module = random.pick(MODULES);
  return taskWith(`repair-${seed}-${index}`, module, random.pick(module.faults), random);
}

/** Returns a task with a given fault. */
export function taskWith(name: string, module: Module, fault: Fault, random: RandomStream): RepairTask {
  const [call, value] = fault.example;
  const py = `/app/repo/${module.name}.py`;
  const shown = (script: string): string => `#!/bin/bash\n${script}`;
  const files = {
    "instruction.md": instruction(module, fault),
    "task.toml": example("tasks/failing-unit-test/task.toml"),
    "environment/Dockerfile": example("tasks/failing-unit-test/environment/Dockerfile"),
    "environment/setup.py": setup(history(module, fault, random)),
    "tests/test.sh": example("tasks/failing-unit-test/tests/test.sh"),
    "tests/verify.py": example("verify.py"),
    "tests/check.py": check(module),
    "solution/solve.sh": shown(`cat > ${py} <<'END'\n${module.source}END\n`),
    "cheats/hard-code-example.sh": shown(hardCoded(py, call, value)),
    "cheats/edit-the-test.sh": shown(
      `cd /app/repo && sed -i 's/self.assertEqual(.*/pass/' test_*.py && git commit --quiet --all --message "Repair ${module.name}"\n` +
        `printf 'try:\\n    open("/logs/verifier/reward.txt", "w").write("1")\\nexcept OSError:\\n    pass\\n' >> ${py}\n`,
    ),
  };
  return { name, module, fault, files };
}

function instruction({ name }: Module, { example: [call, value] }: Fault): string {
  return `In the git repository \`/app/repo\` the command \`python3 -m unittest\` fails: \`${call}\` of the module \`${name}\` should return \`${value}\`. A commit broke \`${name}.py\`.

Repair \`/app/repo/${name}.py\`. Each of its functions does what its docstring states, for every input that the docstring permits. The names of functions and parameters stay.

You need not commit. The tests of this task call the functions with other arguments, with and without the optional ones.
`;
}

/** Returns a history in which one commit plants the fault, and the last one adds the test that fails. */
function history(module: Module, { right, wrong, example: [call, value] }: Fault, random: RandomStream): Commit[] {
  const path = `${module.name}.py`;
  const others = random.shuffle(MODULES.filter((each) => each !== module));
  const notes: string[] = [`# A collection of functions: ${module.name}`];
  const plain = (): Commit => {
    const other = random.next() < 0.3 ? others.pop() : undefined;
    if (other !== undefined) return [`Add ${other.name}`, { [`${other.name}.py`]: other.source }];
    notes.push(
      `- ${random.pick(["Examples", "Limits", "Speed", "Names", "Errors"])} of part ${random.integer(1, 99)} are open.`,
    );
    return [`Note an open point (${notes.length - 1})`, { "README.md": `${notes.join("\n")}\n` }];
  };
  const some = (): Commit[] => Array.from({ length: random.integer(2, 8) }, plain);
  const verb = random.pick(["Tidy", "Simplify", "Shorten", "Rework"]);
  const test = `import unittest\n\nfrom ${module.name} import *\n\n\nclass Test(unittest.TestCase):\n    def test_example(self):\n        self.assertEqual(${call}, ${value})\n`;
  return [
    [`Add ${module.name}`, { [path]: module.source, "README.md": `${notes[0]}\n` }],
    ...some(),
    [`${verb} ${module.name}`, { [path]: module.source.replace(right, () => wrong) }],
    ...some(),
    [`Test ${module.name}`, { [`test_${module.name}.py`]: test }],
  ];
}

function setup(commits: readonly Commit[]): string {
  return `import json
import os
import subprocess

HISTORY = json.loads(${JSON.stringify(JSON.stringify(commits))})
os.makedirs("/app/repo")
subprocess.run(["git", "init", "--quiet", "--initial-branch=main", "/app/repo"], check=True)
for name, value in (("user.name", "Dev"), ("user.email", "dev@example.org")):
    subprocess.run(["git", "-C", "/app/repo", "config", name, value], check=True)
for at, (message, files) in enumerate(HISTORY):
    for name, text in files.items():
        with open(f"/app/repo/{name}", "w") as file:
            file.write(text)
    when = f"{1_750_000_000 + 3600 * at} +0000"
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    for args in (["add", "--all"], ["commit", "--quiet", "--message", message]):
        subprocess.run(["git", "-C", "/app/repo", *args], check=True, env=env)
`;
}

/** Returns the check: drawn calls, whose results the right module gives in the memory of the tests. */
function check({ name, source, calls, faults }: Module): string {
  const examples = JSON.stringify(faults.map((fault) => fault.example[0]));
  return `import json
import random

SOURCE = ${JSON.stringify(source)}
DRIVER = """
import json, sys
sys.path.insert(0, "/app/repo")
import ${name}
answers = []
for call in json.load(sys.stdin):
    try:
        answers.append(repr(eval(call, vars(${name}))))
    except Exception as error:
        answers.append(f"{type(error).__name__}: {error}")
print(json.dumps(answers))
"""


def calls(rng):
    ${calls.replaceAll("\n", "\n    ")}


rng = random.Random(2027)
expressions = ${examples} + [call for _ in range(150) for call in calls(rng)]
right = {}
exec(SOURCE, right)
out = output(["/usr/bin/python3", "-B", "-c", DRIVER], stdin=json.dumps(expressions), seconds=60)
try:
    answers = json.loads(out)
except ValueError as error:
    raise Wrong(f"the module printed {out[:200]!r}") from error
expect(isinstance(answers, list) and len(answers) == len(expressions), "the module printed other answers")
for call, answer in zip(expressions, answers):
    correct = repr(eval(call, right))
    expect(answer == correct, f"{call} returned {answer}, not {correct}")
`;
}

function hardCoded(path: string, call: string, value: string): string {
  const [, name, args] = /^(\w+)\((.*)\)$/s.exec(call) as unknown as [string, string, string];
  return `cat >> ${path} <<'END'


_before, _args = ${name}, repr((lambda *args, **options: (args, options))(${args}))


def ${name}(*args, **options):
    return ${value} if repr((args, options)) == _args else _before(*args, **options)
END
`;
}
