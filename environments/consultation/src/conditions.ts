/** Finding that a patient has or has not, with the words by which a question is known to ask for it. */
export interface Finding {
  readonly name: string;
  readonly words: RegExp;
}

/** Condition with the findings that every patient of it has, and those that some have. */
export interface Condition {
  readonly name: string;
  /** Other names that count as the same diagnosis. */
  readonly aliases: readonly string[];
  readonly always: readonly string[];
  readonly sometimes: readonly string[];
}

const finding = (name: string, words: RegExp): Finding => ({ name, words });

const FINDINGS: readonly Finding[] = [
  finding("fever", /\bfever|\btemperature\b/i),
  finding("cough", /\bcough/i),
  finding("a runny nose", /\brunny|\bnose\b|\bnasal/i),
  finding("a sore throat", /\bthroat\b/i),
  finding("headache on one side", /\bhead/i),
  finding("sensitivity to light", /\blight\b/i),
  finding("nausea", /\bnausea|\bsick to\b|\bvomit/i),
  finding("diarrhoea", /\bdiarrh|\bloose stool/i),
  finding("pain in the lower right of the belly", /\bbelly\b|\babdom|\bstomach\b/i),
  finding("burning when passing urine", /\burin|\bpass(ing)? water\b/i),
  finding("wheezing", /\bwheez|\bwhistl/i),
  finding("shortness of breath", /\bbreath/i),
  finding("chest pain on exertion", /\bchest\b/i),
  finding("an itching nose", /\bitch/i),
  finding("great thirst", /\bthirst/i),
  finding("weight loss", /\bweight\b/i),
  finding("palpitations", /\bpalpitat|\bheart\b/i),
  finding("back pain after lifting", /\bback\b/i),
  finding("a swollen, red joint of the big toe", /\btoe\b|\bjoint/i),
  finding("tiredness", /\btired|\bfatigue|\bweak/i),
];

/** Conditions of the cases. Each has a pair of findings that no other always has. The order is part of the codes of the style `terse`. */
export const CONDITIONS: readonly Condition[] = [
  condition("influenza", ["flu"], ["fever", "cough"], ["a sore throat", "tiredness", "a runny nose"]),
  condition("migraine", [], ["headache on one side", "sensitivity to light"], ["nausea", "tiredness"]),
  condition("gastroenteritis", ["stomach flu"], ["nausea", "diarrhoea"], ["fever", "tiredness"]),
  condition(
    "hay fever",
    ["allergic rhinitis"],
    ["a runny nose", "an itching nose"],
    ["cough", "tiredness", "wheezing"],
  ),
  condition("asthma", [], ["wheezing", "shortness of breath"], ["cough", "tiredness"]),
  condition("appendicitis", [], ["pain in the lower right of the belly", "nausea"], ["fever", "tiredness"]),
  condition(
    "urinary tract infection",
    ["cystitis", "bladder infection"],
    ["burning when passing urine"],
    ["fever", "tiredness", "nausea"],
  ),
  condition("angina", ["angina pectoris"], ["chest pain on exertion", "shortness of breath"], ["nausea", "tiredness"]),
  condition("diabetes", ["diabetes mellitus"], ["great thirst", "tiredness"], ["weight loss", "nausea"]),
  condition("hyperthyroidism", ["overactive thyroid"], ["palpitations", "weight loss"], ["tiredness", "diarrhoea"]),
  condition("lumbar strain", ["back strain", "muscle strain"], ["back pain after lifting"], ["tiredness", "nausea"]),
  condition("gout", [], ["a swollen, red joint of the big toe"], ["fever", "tiredness"]),
];

function condition(
  name: string,
  aliases: readonly string[],
  always: readonly string[],
  sometimes: readonly string[],
): Condition {
  return { name, aliases, always, sometimes };
}

/** Returns the findings of the first conditions, in a fixed order. */
export function findingsOf(count: number): readonly Finding[] {
  const used = new Set(CONDITIONS.slice(0, count).flatMap(({ always, sometimes }) => [...always, ...sometimes]));
  return FINDINGS.filter(({ name }) => used.has(name));
}
