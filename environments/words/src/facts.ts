/** A question with the answer yes or no, and the things for which it is yes. */
interface Fact {
  readonly question: string;
  readonly things: readonly string[];
}

function fact(question: string, things: string): Fact {
  return { question, things: things.split(" ") };
}

/** Questions by the word that asks them. Things and questions are chosen so that no answer is a matter of opinion. */
export const FACTS: ReadonlyMap<string, Fact> = new Map(
  Object.entries({
    animal: fact(
      "Is it an animal?",
      "cow horse cat dog wolf lion rabbit bear whale eagle owl chicken bee butterfly spider salmon octopus tortoise",
    ),
    mammal: fact("Is it a mammal?", "cow horse cat dog wolf lion rabbit bear whale"),
    hooves: fact("Does it have hooves?", "cow horse"),
    horns: fact("Can it have horns?", "cow"),
    feline: fact("Is it a cat or a big cat?", "cat lion"),
    canine: fact("Is it a dog or a wolf?", "dog wolf"),
    pet: fact("Is it an animal that is often kept as a pet?", "cat dog rabbit"),
    bird: fact("Is it a bird?", "eagle owl chicken"),
    insect: fact("Is it an insect?", "bee butterfly"),
    prey: fact("Is it a bird of prey?", "eagle owl"),
    honey: fact("Does it make honey?", "bee"),
    shell: fact("Is it an animal with a shell?", "tortoise"),
    eggs: fact("Does it lay eggs?", "eagle owl chicken bee butterfly spider salmon octopus tortoise"),
    eight: fact("Does it have eight legs or arms?", "spider octopus"),
    wings: fact("Does it have wings?", "eagle owl chicken bee butterfly airplane"),
    water: fact(
      "Does it live in water, or is it made to travel on or below it?",
      "whale salmon octopus canoe submarine",
    ),
    plant: fact(
      "Is it a plant or a part of a plant?",
      "apple lemon cherry strawberry grape carrot potato beet rose oak",
    ),
    fruit: fact("Is it a fruit?", "apple lemon cherry strawberry grape"),
    tree: fact("Is it a tree, or does it grow on one?", "apple lemon cherry oak"),
    citrus: fact("Is it a citrus fruit?", "lemon"),
    stone: fact("Does it have one hard stone inside?", "cherry"),
    vine: fact("Does it grow on a vine?", "grape"),
    tuber: fact("Is it a tuber?", "potato"),
    thorns: fact("Can it have thorns?", "rose"),
    ground: fact("Does it grow below the ground?", "carrot potato beet"),
    vehicle: fact("Is it a vehicle?", "car truck bicycle train airplane motorcycle canoe submarine"),
    wheels: fact("Does it have wheels?", "car truck bicycle train airplane motorcycle"),
    two: fact("Does it have two wheels?", "bicycle motorcycle"),
    rails: fact("Does it travel on rails?", "train"),
    goods: fact("Is it a vehicle made to carry goods more than people?", "truck"),
    engine: fact("Is it a vehicle with an engine?", "car truck train airplane motorcycle submarine"),
    music: fact("Is it a musical instrument?", "guitar violin harp piano drum flute trumpet"),
    strings: fact("Does it have strings?", "guitar violin harp piano"),
    keys: fact("Does it have black and white keys?", "piano"),
    bow: fact("Is it played with a bow?", "violin"),
    brass: fact("Is it an instrument of brass?", "trumpet"),
    blown: fact("Does a player blow into it?", "flute trumpet"),
    furniture: fact("Is it furniture?", "table chair bed sofa"),
    seat: fact("Is it furniture to sit or sleep on?", "chair bed sofa"),
    sleep: fact("Is it made to sleep in at night?", "bed"),
    worn: fact("Is it worn on the body?", "hat shoe boot sock glove"),
    feet: fact("Is it worn on the feet?", "shoe boot sock"),
    meals: fact("Is it a tool for cooking or eating?", "fork spoon pan ladle"),
    hands: fact("Is it worn on the hands?", "glove"),
    inside: fact("Is it worn inside shoes?", "sock"),
    wood: fact("Is it a tool for wood?", "saw axe"),
    cuts: fact("Is it a tool made to cut?", "saw scissors axe"),
    screen: fact("Does it have a screen?", "television"),
    electric: fact("Is it a household appliance that runs on electricity?", "television toaster blender"),
  }),
);

/** All things that a question knows. */
export const THINGS: readonly string[] = [...new Set([...FACTS.values()].flatMap(({ things }) => things))];
