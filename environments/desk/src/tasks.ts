import { generatedTasks, type RandomStream, type TaskSource } from "@mrlm/kit";
import { pickDifficulty } from "@mrlm/kit/options";
import { type Case, decide, type Decision, type Domain, type Goal, TODAY } from "./case.ts";
import { flights } from "./flights.ts";
import type { DeskOptions } from "./options.ts";
import { shop } from "./shop.ts";

export const DOMAINS: Readonly<Record<DeskOptions["domains"][number], Domain>> = { shop, flights };

/** Part of a task that anybody may see. */
export type PublicDesk = { readonly domain: keyof typeof DOMAINS; readonly level: number };

/** Hidden part: the database, and the requests of the customer. */
export type PrivateDesk = { readonly cases: Case[]; readonly goals: Goal[] };

const SURNAMES = ["Abara", "Bauer", "Costa", "Dubois", "Eriksen", "Fontana", "Garcia", "Haddad", "Ivanova", "Jansen"];
/** Share of all tasks that belongs to the `eval` split. */
const EVAL_SHARE = 0.1;
/** Cases of other customers. */
const OTHERS = 3;

/** Returns seeded tasks. All kinds of decisions are equally frequent, so that no constant decision is often right. */
export function deskTasks(options: DeskOptions): TaskSource<PublicDesk, PrivateDesk> {
  return generatedTasks({
    seed: options.task_seed,
    splits: {
      train: { size: options.train_size, share: 1 - EVAL_SHARE },
      eval: { size: options.eval_size, share: EVAL_SHARE },
    },
    generate(random) {
      const name = random.pick(options.domains);
      const domain = DOMAINS[name];
      const level = pickDifficulty(random, options.levels);
      const numbers = drawNumbers(random, options.style);
      const surname = random.pick(SURNAMES);
      const [first = "", second = "", ...others] = numbers;
      const own = (level < 4 ? [first] : [first, second]).map((number) =>
        drawRequest(random, domain, level, number, surname),
      );
      const cases = [
        ...own.map(({ found }) => found),
        ...others.map((number) => drawCase(random, domain, number, random.pick(SURNAMES))),
      ];
      const goals = own.map(({ goal }) => goal);
      return {
        public: { domain: name, level },
        private: { cases: random.shuffle(cases), goals },
        key: JSON.stringify([name, own]),
      };
    },
  });
}

/** Draws the numbers of cases: of the terse style single letters, which small models copy sooner. */
function drawNumbers(random: RandomStream, style: DeskOptions["style"]): readonly string[] {
  const letters = random.shuffle([..."ABCDEFGH"]).slice(0, OTHERS + 2);
  return style === "terse" ? letters : letters.map((letter) => `${letter}${random.integer(10, 99)}`);
}

/** Draws a kind of decision, and then a case and a request with it. */
function drawRequest(
  random: RandomStream,
  domain: Domain,
  level: number,
  number: string,
  surname: string,
): { readonly found: Case; readonly goal: Goal } {
  const wanted = random.pick(kindsOf(domain, level));
  for (;;) {
    const isOther = wanted === "refuse: identity";
    const owner = isOther ? random.pick(SURNAMES.filter((each) => each !== surname)) : surname;
    const found = drawCase(random, domain, number, owner);
    const [wish = "", second = ""] = random.shuffle(domain.values.filter((each) => isWish(each, found.value)));
    const request = level === 1 ? "refund" : random.pick(["refund", "change"] as const);
    const goal: Goal = { number, surname, subject: found.subject, request, wish, second };
    if (kindOf(decide(domain, found, goal), goal) === wanted) return { found, goal };
  }
}

/** Whether a customer may ask for a value: not the present one, and no day that has passed. */
function isWish(value: string, present: string): boolean {
  return value !== present && !(Number(value) < TODAY);
}

function kindsOf({ reasons }: Domain, level: number): string[] {
  return [
    "refund: card",
    "refund: voucher",
    ...reasons.filter((reason) => level > 1 || reason !== "full").map((reason) => `refuse: ${reason}`),
    ...(level > 1 ? ["change: wish", "change: second"] : []),
    ...(level > 2 ? ["refuse: identity"] : []),
  ];
}

function kindOf({ action, value }: Decision, { wish }: Goal): string {
  return `${action}: ${action === "change" ? (value === wish ? "wish" : "second") : value}`;
}

function drawCase(random: RandomStream, domain: Domain, number: string, surname: string): Case {
  const subject = random.pick(domain.subjects);
  const value = random.pick(domain.values);
  return {
    number,
    surname,
    subject,
    value,
    facts: domain.drawFacts(random, subject, value),
    free: domain.values.filter((each) => isWish(each, value) && random.integer(0, 1) === 1),
    status: "open",
  };
}
