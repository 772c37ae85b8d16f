import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { forbiddenRange } from "../src/network/forbidden-range.ts";

/** First and last address of ranges, with their public neighbours. */
const RANGES: readonly (readonly [
  first: string,
  last: string,
  before: string | undefined,
  after: string | undefined,
])[] = [
  ["0.0.0.0", "0.255.255.255", undefined, "1.0.0.0"],
  ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
  ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0.0", "192.0.0.255", "191.255.255.255", undefined],
  ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["224.0.0.0", "255.255.255.255", "223.255.255.255", undefined],
  ["::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
  ["2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::1", "2001:db9::1"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::1", "2003::1"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe::1", undefined],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
];

describe("ranges of addresses", () => {
  test.each(RANGES)("%s to %s is not public, its neighbours are", (first, last, before, after) => {
    for (const address of [first, last, `${first}%eth0`])
      expect([address, forbiddenRange(address)]).toEqual([address, expect.any(String)]);
    for (const address of [before, after])
      if (address !== undefined) expect([address, forbiddenRange(address)]).toEqual([address, undefined]);
  });

  test.each(["", "localhost", "1.2.3", "1.2.3.4.5", "::g", "127.0.0.1\0", "1.2.3.4 ", "[2600::1]"])(
    "%j is no public address",
    (text) => {
      expect(forbiddenRange(text)).toEqual(expect.any(String));
    },
  );

  test("an IPv4 address that is not public stays so inside of an IPv6 address", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const inner = fc.oneof(
      fc.tuple(fc.constant(10), byte, byte, byte),
      fc.tuple(fc.constant(127), byte, byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
    );
    const forms = [
      "::",
      "::ffff:",
      "::ffff:0:",
      "64:ff9b::",
      "64:ff9b:1::",
      "2600::5efe:",
      "2600::200:5efe:",
      "100::",
      "fe80::",
    ];
    fc.assert(
      fc.property(inner, fc.constantFrom(...forms), (bytes, prefix) => {
        const [a, b, c, d] = bytes.map((value) => value.toString(16).padStart(2, "0"));
        expect(forbiddenRange(prefix + bytes.join("."))).toEqual(expect.any(String));
        expect(forbiddenRange(`${prefix}${a}${b}:${c}${d}`)).toEqual(expect.any(String));
        expect(forbiddenRange(`2002:${a}${b}:${c}${d}::1`)).toEqual(expect.any(String));
      }),
    );
  });
});
