import { expect, test } from "@jest/globals";
import { messageText, textMessage } from "@mrlm/kit";
import { scriptedPolicies } from "../src/customer.ts";
import { roleOf } from "../src/prompts.ts";

const goal = {
  number: "A10",
  surname: "Costa",
  subject: "lamp",
  request: "change",
  wish: "red",
  second: "blue",
} as const;
const goals = [goal, { ...goal, number: "B20", subject: "radio", request: "refund" } as const];
const { signal } = new AbortController();

test("the customer begins with the request, answers questions, and has another request when asked", async () => {
  const customer = scriptedPolicies.customer({}, {});
  const ask = async (text: string): Promise<string> => {
    const { message } = await customer.act({ agent: "user", messages: [textMessage("user", text)] }, { signal });
    return messageText(message);
  };
  const role = messageText(roleOf({ domain: "shop", level: 4 }, { cases: [], goals }, "words"));
  expect(await ask(role)).toBe("I would like to exchange the lamp.");
  expect(await ask("What is your order number?")).toBe("My number is A10.");
  expect(await ask("And your name?")).toBe("My surname is Costa.");
  expect(await ask("Which color should it be?")).toBe("My wish is red.");
  expect(await ask("It is not free. Is there an alternative?")).toBe("My second choice is blue.");
  expect(await ask("Thank you.")).toBe("I have nothing to add.");
  expect(await ask("Is there anything else?")).toBe("I would like to return the radio.");
  expect(await ask("Your number, please.")).toBe("My number is B20.");
  expect(await ask("Anything else?")).toBe("No, thank you.");
});

test("options of the customer are refused", () => {
  expect(() => scriptedPolicies.customer({}, { mood: "bad" })).toThrow("has no options");
});
