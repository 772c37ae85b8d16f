import { fraction } from "../exact.ts";
import { someone, type Template } from "./story.ts";

/** Paying for several equal things: the change. */
const shopping: Template = (random, size) => {
  const [name, thing] = [someone(random), random.pick(["notebooks", "pens", "mugs", "tickets"])];
  const [count, price, spare] = [random.integer(2, size), random.integer(2, size), random.integer(1, 4 * size)];
  const [cost, paid] = [count * price, count * price + spare];
  return {
    sentences: [`${name} buys ${count} ${thing} at ${price} dollars each.`, `${name} pays with ${paid} dollars.`],
    question: "How many dollars of change are due?",
    expression: `${paid}-${count}*${price}`,
    answer: String(spare),
    steps: [`${count} * ${price} = ${cost}`, `${paid} - ${cost} = ${spare}`],
    distractors: [
      `The shop has been open for ${random.integer(2, 90)} years.`,
      `There are ${random.integer(3, 60)} other customers.`,
    ],
  };
};

/** Boxes filled and some left over, or given away. */
const stock: Template = (random, size) => {
  const [name, thing] = [someone(random), random.pick(["apples", "eggs", "marbles", "stamps"])];
  const [boxes, each, loose] = [random.integer(2, size), random.integer(2, size), random.integer(2, size)];
  const [packed, total] = [boxes * each, boxes * each + loose];
  const gone = random.integer(2, total);
  return {
    sentences: [
      `${name} has ${boxes} boxes with ${each} ${thing} in each, and ${loose} more ${thing}.`,
      `${name} gives away ${gone} ${thing}.`,
    ],
    question: `How many ${thing} does ${name} have left?`,
    expression: `${boxes}*${each}+${loose}-${gone}`,
    answer: String(total - gone),
    steps: [
      `${boxes} * ${each} = ${packed}`,
      `${packed} + ${loose} = ${total}`,
      `${total} - ${gone} = ${total - gone}`,
    ],
    distractors: [
      `Each box weighs ${random.integer(2, 20)} grams.`,
      `${someone(random)} owns ${random.integer(2, 40)} hats.`,
    ],
  };
};

/** Two legs of a journey at their own speeds. */
const journey: Template = (random, size) => {
  const [first, second] = [random.integer(2, size), random.integer(2, size)];
  const [slow, fast] = [random.integer(2, 10 + size), random.integer(2, 10 + size)];
  const [before, after] = [first * slow, second * fast];
  return {
    sentences: [
      `A train travels for ${first} hours at ${slow} km per hour.`,
      `Then it travels for ${second} hours at ${fast} km per hour.`,
    ],
    question: "How many kilometres does it travel in all?",
    expression: `${first}*${slow}+${second}*${fast}`,
    answer: String(before + after),
    steps: [
      `${first} * ${slow} = ${before}`,
      `${second} * ${fast} = ${after}`,
      `${before} + ${after} = ${before + after}`,
    ],
    distractors: [`It has ${random.integer(3, 16)} carriages.`, `A ticket costs ${random.integer(5, 80)} dollars.`],
  };
};

/** A number of years in which one is a multiple as old as another. */
const ages: Template = (random, size) => {
  const [times, young, years] = [random.integer(2, 4), random.integer(2, size), random.integer(2, size)];
  const old = times * young;
  return {
    sentences: [`Uma is ${young} years old.`, `Her aunt is ${times} times as old.`],
    question: `How old will the aunt be in ${years} years?`,
    expression: `${times}*${young}+${years}`,
    answer: String(old + years),
    steps: [`${times} * ${young} = ${old}`, `${old} + ${years} = ${old + years}`],
    distractors: [`Her uncle has ${random.integer(2, 9)} cats.`, `They live at number ${random.integer(2, 200)}.`],
  };
};

/** Equal shares of what is left, as a fraction where it does not come out even. */
const sharing: Template = (random, size) => {
  const [friends, kept] = [random.integer(2, 2 + Math.floor(size / 3)), random.integer(2, size)];
  const total = kept + random.integer(1, size) * (size < 15 ? friends : 1);
  const left = total - kept;
  const answer = fraction(left, friends);
  return {
    sentences: [
      `There are ${total} litres of juice.`,
      `${kept} litres are kept for later.`,
      `The rest is shared equally by ${friends} friends.`,
    ],
    question: "How many litres does each friend get? Give an exact number.",
    expression: `(${total}-${kept})/${friends}`,
    answer,
    steps: [`${total} - ${kept} = ${left}`, `${left} / ${friends} = ${answer}`],
    distractors: [
      `The juice was pressed ${random.integer(2, 9)} days ago.`,
      `They play ${random.integer(2, 12)} games.`,
    ],
  };
};

/** A price with a discount in percent. */
const discount: Template = (random, size) => {
  const [percent, price, count] = [
    5 * random.integer(1, 15),
    random.integer(2, 4 * size),
    random.integer(2, 2 + Math.ceil(size / 4)),
  ];
  const each = fraction(price * (100 - percent), 100);
  const answer = fraction(price * (100 - percent) * count, 100);
  return {
    sentences: [`A lamp costs ${price} dollars.`, `Today there is a discount of ${percent} percent.`],
    question: `What do ${count} such lamps cost today, in dollars? Give an exact number.`,
    expression: `${count}*${price}*(100-${percent})/100`,
    answer,
    steps: [`${price} * ${100 - percent} / 100 = ${each}`, `${count} * ${each} = ${answer}`],
    distractors: [`A lamp is ${random.integer(20, 90)} cm high.`, `The shop has ${random.integer(2, 9)} floors.`],
  };
};

/** All templates of stories. */
export const TEMPLATES: readonly Template[] = [shopping, stock, journey, ages, sharing, discount];
