import type { Message } from "@mrlm/spec";
import { messageText } from "@mrlm/kit";
import { keyOf } from "./arena.ts";
import { type Baselines, finalTexts } from "./baselines.ts";
import { codeTexts, languageOf } from "./code-texts.ts";
import { CANDIDATES, COPIES, hasSeveral, joinTextsOf, listTexts, literalTexts, spanTexts } from "./copied-texts.ts";
import { CHARACTERS, CONSTANTS, FORGERIES, LENGTHS, LISTS, MARKUP, SEQUENCES } from "./fixed-texts.ts";
import { BARE, type Frame } from "./frames.ts";
import { diagonal, interleave } from "./orders.ts";
import { DistinctPrograms, inFrame, inOrder, inRoles, inTurn, type Program } from "./program.ts";
import type { Literals } from "./source-literals.ts";
import { KINDS } from "./spans.ts";
import { constantText, type Family, listedText, quote, spacedText, spanText, type Text } from "./text.ts";
import { type Probe, toolPrograms } from "./tool-programs.ts";

/** Makes programs of all families, each list in the order in which it is tried. */
export function programsOf(
  baselines: Baselines,
  literals: Literals,
  probe: Probe,
  learnt: readonly (readonly Message[])[] = [],
): ReadonlyMap<Family, readonly Program[]> {
  const { frames, paths, views } = baselines;
  const forms = frames.length > 0 ? frames : [BARE];
  const isLong = views.some(({ turn }) => turn > 0);
  const framed = (texts: readonly Text[]): Program[] => inForms(texts, forms);
  const gold = finalTexts(paths).slice(0, 20);
  const spans = spanTexts(views, isLong);
  const copies = inForms(COPIES, forms);
  const answers = [
    ...copies.slice(0, 1),
    ...lastMessages(paths).slice(0, 2),
    ...copies.slice(1),
    inFrame(BARE, [constantText("tool", "")]),
  ];
  const texts: Partial<Record<Family, Program[]>> = {
    constant: [...inForms(CONSTANTS, [BARE, ...forms.filter((form) => form !== BARE)])],
    span: framed(spans),
    list: framed([...listTexts(views), ...LISTS]),
    join: framed(joinTextsOf(views)),
    literal: [...learnt.map(learntProgram), ...framed(literalTexts(literals))],
    length: framed(LENGTHS),
    characters: framed(CHARACTERS),
    forgery: framed(FORGERIES),
    markup: framed(MARKUP),
    gold: goldPrograms(paths, forms),
    turns: isLong ? turnPrograms(baselines, literals, forms) : [],
    tool: toolPrograms(probe, answers),
    code: codePrograms(gold, forms),
    roles: rolePrograms(baselines),
  };
  return new Map(Object.entries(texts) as [Family, Program[]][]);
}

/** Puts each text into the forms: the first form of all texts goes ahead, and twice as fast as the others. */
function inForms(texts: readonly Text[], forms: readonly Frame[]): Program[] {
  const all = forms.includes(BARE) ? forms : [...forms, BARE];
  const [first = BARE, ...others] = all;
  const queues = [programsIn(first, texts), others.flatMap((form) => programsIn(form, texts))] as const;
  const programs: Program[] = [];
  for (let [i, j] = [0, 0]; i < queues[0].length || j < queues[1].length; i += 2, j += 1)
    programs.push(...queues[0].slice(i, i + 2), ...queues[1].slice(j, j + 1));
  return programs;
}

function programsIn(frame: Frame, texts: readonly Text[]): Program[] {
  if (frame.slots < 2) return texts.map((text) => inFrame(frame, [text]));
  return texts.flatMap((text) => [
    ...Array.from({ length: frame.slots }, (_, slot) =>
      inFrame(
        frame,
        Array.from({ length: frame.slots }, (__, i) => (i === slot ? text : undefined)),
      ),
    ),
    inFrame(
      frame,
      Array.from({ length: frame.slots }, () => text),
    ),
  ]);
}

/** Returns programs that write what gold writes in other tasks. */
function goldPrograms(paths: readonly (readonly Message[])[], forms: readonly Frame[]): Program[] {
  const whole = paths
    .slice(0, 8)
    .map((path, i) => inOrder("gold", `what gold writes in task ${i + 1} of those that were looked at`, path));
  const slots = [
    ...new Set(
      forms.flatMap((form) => paths.flatMap((path) => path.slice(-1).flatMap((message) => form.read(message) ?? []))),
    ),
  ];
  const listed = [" ", ", ", "\n", " or "].map((separator) =>
    constantText(
      "gold",
      slots.slice(0, 40).join(separator),
      `the answers of ${Math.min(40, slots.length)} other tasks, joined by ${quote(separator)}`,
    ),
  );
  return interleave([whole, lastMessages(paths), slots.length > 1 ? inForms(listed, forms) : []]);
}

/** Makes a program that writes what a trained model wrote in one episode. */
function learntProgram(path: readonly Message[]): Program {
  const written = path.map((message) => quote(messageText(message))).join(", ");
  return inOrder("literal", `what a model learns to write by training (${written})`, path);
}

/** Returns programs that write the last message of gold in other tasks, the commonest first. */
function lastMessages(paths: readonly (readonly Message[])[]): Program[] {
  const counted = Map.groupBy(
    paths.flatMap((path) => path.slice(-1)),
    (message) => JSON.stringify(message),
  );
  return [...counted.values()]
    .toSorted((one, other) => other.length - one.length)
    .slice(0, 8)
    .flatMap((all) => all.slice(0, 1))
    .map((message) =>
      inOrder("gold", `the last message of gold in another task (${quote(messageText(message))})`, [message]),
    );
}

function goldMessage(message: Message): Program {
  return inOrder("turns", `the message ${quote(messageText(message))} of gold`, [message]);
}

/** Returns short messages that mean something in the environment: those of gold, then elements of lists of the source. */
function vocabularyOf(paths: readonly (readonly Message[])[], { lists, texts }: Literals): Program[] {
  const gold = [...new Map(paths.flat().map((message) => [JSON.stringify(message), message])).values()];
  const calls = gold.slice(0, 10).map(goldMessage);
  const words = [...new Set([...lists.flat(), ...texts])].filter((text) => text.length < 30 && !text.includes("\n"));
  return [...calls, ...words.slice(0, 60).map((word) => inFrame(BARE, [constantText("turns", word)]))];
}

function turnPrograms({ paths, views }: Baselines, literals: Literals, forms: readonly Frame[]): Program[] {
  const framesToUse = [...new Set([...forms, BARE])].filter((form) => form.slots === 1 || form === BARE);
  const slots = [
    ...new Set(forms.flatMap((form) => paths.flatMap((path) => path.flatMap((message) => form.read(message) ?? [])))),
  ];
  const lists: Text[] = [
    ...(slots.length > 1 ? [listedText("what gold writes in other tasks", () => slots)] : []),
    ...SEQUENCES.map(([words, items]) => listedText(words, () => items)),
    ...CANDIDATES.filter((kind) => hasSeveral(views, "question", kind)).flatMap((kind) => [
      listedText(`the spans "${KINDS[kind].words}" of the question`, (view) => view.spans("question", kind)),
      listedText(`the spans "${KINDS[kind].words}" of the question from the last on`, (view) =>
        view.spans("question", kind).toReversed(),
      ),
    ]),
    ...literals.lists
      .slice(0, 20)
      .map((list) => listedText(`the literals ${quote(list.join(" "))} of the source`, () => list)),
  ];
  const vocabulary = vocabularyOf(paths, literals);
  const constants = CONSTANTS.slice(0, 8).map((text) => inFrame(BARE, [text]));
  const openings = [...constants.slice(0, 2), ...vocabulary.slice(0, 40), ...constants.slice(2)];
  const copies = framesToUse.flatMap((form) => COPIES.map((text) => inFrame(form, [text])));
  const after = diagonal(openings, copies).map(([one, other]) => inTurn("turns", [one, other]));
  const few = vocabulary.slice(0, 12);
  const pairs = diagonal(few, few).filter(([one, other]) => one !== other);
  return interleave([
    framesToUse.flatMap((form) => lists.map((text) => inFrame(form, [text]))),
    after,
    vocabulary,
    pairs.flatMap(([one, other]) => [inTurn("turns", [one, other]), inTurn("turns", [one, one, one, other])]),
    diagonal(openings, copies.slice(0, 8)).flatMap(([one, copy]) =>
      [2, 3, 5].map((count) => inTurn("turns", [...Array.from({ length: count }, () => one), copy])),
    ),
  ]);
}

/** Returns programs in which each of two agents has its own: constants, what gold writes, and copies. */
function rolePrograms({ byAgent, views }: Baselines): Program[] {
  const agents = [...byAgent];
  if (agents.length !== 2) return [];
  const copied = ["text", "number", "word", "quoted", "line"] as const;
  const [one = [], other = []] = agents.map(([agent, turns]) => {
    const messages = [...new Map(turns.map(({ message }) => [keyOf(message), message])).values()];
    const own = views.filter((view) => view.agent === agent && view.turn === 0).slice(0, 6);
    const spans = copied.flatMap((kind) => [spanText("latest", kind, 0, 1), spanText("latest", kind, -1, 1)]);
    const apart = spans.flatMap((span) => ["", " ", "-"].map((mark) => spacedText(span, mark)));
    const texts = [...spans, ...apart, ...CONSTANTS.slice(0, 20)].map((text) => inFrame(BARE, [text]));
    const distinct = new DistinctPrograms(own);
    return [...messages.slice(0, 6).map(goldMessage), ...texts].filter((program) => distinct.isNew(program));
  });
  return diagonal(one, other)
    .slice(0, 1_500)
    .map((pair) => inRoles(new Map(agents.map(([agent], i) => [agent, pair[i] as Program]))));
}

function codePrograms(gold: readonly string[], forms: readonly Frame[]): Program[] {
  const language = languageOf(gold);
  if (language === undefined) return [];
  const isFenced = gold.some((text) => text.includes("```"));
  const form =
    forms.find(({ words }) => words.includes("code block")) ??
    forms.find(({ words }) => words.startsWith("in <")) ??
    BARE;
  const texts = codeTexts(
    language,
    gold.map((text) => /```\w*\n([^]*?)```/.exec(text)?.[1] ?? text),
  );
  return isFenced ? inForms(texts, [form]) : texts.map((text) => inFrame(form, [text]));
}
