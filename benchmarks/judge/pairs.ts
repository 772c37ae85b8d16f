/** Two answers to a question, of which the first is better. */
export interface LabelledPair {
  readonly question: string;
  readonly better: string;
  readonly worse: string;
}

const pair = (question: string, better: string, worse: string): LabelledPair => ({ question, better, worse });

/** Pairs with a clear label: an error of fact or of reasoning, a missing answer, or empty confidence and length against a short correct answer. */
export const labelledPairs: readonly LabelledPair[] = [
  pair(
    "Why does ice float on water?",
    "Water expands when it freezes, because its molecules form an open lattice. Ice is therefore about 9% less dense than liquid water.",
    "Ice floats because it is colder than water, and cold things are lighter. Heat always sinks, so the cold ice stays on top.",
  ),
  pair(
    "A train covers 180 km in 2 hours and then 90 km in 1.5 hours. What is its average speed?",
    "The distance is 270 km and the time 3.5 hours, so the average speed is 270 / 3.5, about 77.1 km/h.",
    "The speeds are 90 and 60 km/h, so the average speed is (90 + 60) / 2 = 75 km/h.",
  ),
  pair(
    "Is it safe to look at the sun through ordinary sunglasses during an eclipse?",
    "No. Ordinary sunglasses let through far too much visible and infrared light, and the retina can be burnt without pain. Use eclipse glasses that meet ISO 12312-2.",
    "Yes, dark sunglasses block the bright light, so a few minutes are fine. If it does not hurt, nothing happens.",
  ),
  pair(
    "Does the order of insertion matter for the height of an unbalanced binary search tree?",
    "Yes. Sorted input gives a chain of height n, a random order an expected height of O(log n).",
    "No. A binary search tree always has a height of log n, because each comparison halves the remaining keys, whatever the order.",
  ),
  pair(
    "Should a city replace a car lane by a bus lane?",
    "On a busy corridor it often should: a bus lane carries several times as many people per hour as a lane of cars. It depends on frequency; with two buses an hour the lane stands empty.",
    "Obviously. Everyone knows that buses are good and cars are bad. Anyone who disagrees has not thought about it. This is the only sensible policy, and it will solve all traffic.",
  ),
  pair(
    "What is the capital of Australia?",
    "Canberra.",
    "Thank you for this interesting question. Australia is a large country with a rich history, many cities and a fascinating culture. Its most famous city, with its opera house, is Sydney, which is therefore its capital.",
  ),
  pair(
    "All bloops are razzies, and some razzies are lazzies. Are some bloops necessarily lazzies?",
    "No. The razzies that are lazzies may be others than the bloops. Example: bloops {1}, razzies {1, 2}, lazzies {2}.",
    "Yes. Bloops are razzies, some razzies are lazzies, so some bloops are lazzies by transitivity.",
  ),
  pair(
    "How do vaccines protect against a disease?",
    "They show the immune system a harmless part or form of the pathogen, so that memory cells respond quickly when the real one arrives.",
    "They fill the blood with antibiotics that stay there for years and kill every virus on contact.",
  ),
  pair(
    "A shirt costs 40 after a discount of 20%. What did it cost before?",
    "The price is 80% of the original, so the original was 40 / 0.8 = 50.",
    "20% of 40 is 8, so the original price was 48.",
  ),
  pair(
    "Why should passwords be stored with a slow hash function?",
    "If the database leaks, an attacker can try candidates only as fast as the function allows. bcrypt or Argon2 with a salt make each try expensive, and the salt prevents shared tables.",
    "A slow hash keeps users from logging in too often. It can also be decrypted by the administrator if a user forgets the password.",
  ),
  pair(
    "Summarise: 'The committee approved the budget after a long debate, with two members voting against it.'",
    "The committee approved the budget, with two votes against, after a long debate.",
    "The committee rejected the budget because two members voted against it.",
  ),
  pair(
    "What causes the seasons on Earth?",
    "The tilt of the axis, about 23.4 degrees: each hemisphere gets more direct light and longer days in its summer. The distance to the sun hardly matters; it is smallest in January.",
    "The orbit of the Earth is an ellipse. In summer we are close to the sun, in winter far away, and that is the whole reason.",
  ),
  pair(
    "Is 91 a prime number?",
    "No: 91 = 7 x 13.",
    "Yes. It is odd, does not end in 5, and its digits do not sum to a multiple of 3, so no number divides it.",
  ),
  pair(
    "Does correlation between ice cream sales and drownings show that ice cream causes drowning?",
    "No. Both rise in hot weather: temperature is a common cause. A test would compare days of equal temperature.",
    "The data are clear and the correlation is strong, so it does. Statistics prove that people should not eat ice cream near water.",
  ),
  pair(
    "Write a sentence that uses 'their' and 'there' correctly.",
    "Their dog is over there by the fence.",
    "There dog is over their by the fence.",
  ),
  pair(
    "What does `[1, 2, 3].map(parseInt)` return in JavaScript?",
    "[1, NaN, NaN]: map passes the index as the second argument, which parseInt takes as the radix; 1 is no valid radix, and 3 is no digit in base 2.",
    "[1, 2, 3]: parseInt turns each element into an integer, and they are integers already.",
  ),
  pair(
    "Is nuclear power a low-carbon source of electricity?",
    "Yes. Over its life cycle it emits about as much per kilowatt-hour as wind, by the IPCC's review. Costs, waste and construction time are separate questions.",
    "No. The white clouds over the towers are carbon dioxide, as anyone can notice.",
  ),
  pair(
    "How many times does the digit 1 appear in the numbers from 1 to 20?",
    "Twelve times: 1, 10, 11 (two), 12, 13, 14, 15, 16, 17, 18, 19.",
    "Eleven times: once in 1, and once in each of the numbers from 10 to 19.",
  ),
  pair(
    "Can a person be in two time zones at once?",
    "Yes, on their border: with one foot on each side. A clock on each foot would differ.",
    "Bananas are rich in potassium. Time is precious, and zones are important for planning.",
  ),
  pair(
    "Should I restart a server to fix a memory leak?",
    "It buys time only: memory grows again. Take a heap profile, find what is retained, and fix it; restart on a schedule until then.",
    "Yes. Restarting fixes the leak forever, because the memory is cleared.",
  ),
];
