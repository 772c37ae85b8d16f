import { test } from "@jest/globals";
import { abuses } from "./fixtures/abuse.ts";
import { assertEarnsLess } from "./support/earns-less.ts";

const CASES = 1_000;

test.each(abuses)(
  `${CASES} arguments of twice the length of an honest one earn less than it: $name`,
  (abuse) => assertEarnsLess(abuse, CASES),
  60_000,
);
