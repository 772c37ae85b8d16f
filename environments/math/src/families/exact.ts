/** Returns the greatest common divisor of two whole numbers, ≥ 0; that of 0 and 0 is 0. */
export function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? Math.abs(one) : greatestCommonDivisor(other, one % other);
}

/** Writes a quotient in lowest terms with a positive denominator: `3`, `-3` or `-3/4`. */
export function fraction(numerator: number, denominator: number): string {
  const divisor = greatestCommonDivisor(numerator, denominator) * Math.sign(denominator);
  const top = numerator / divisor;
  const bottom = denominator / divisor;
  return bottom === 1 ? String(top + 0) : `${top}/${bottom}`;
}

/** Returns the divisors of a positive whole number in ascending order. */
export function divisorsOf(number: number): number[] {
  const small: number[] = [];
  for (let divisor = 1; divisor * divisor <= number; divisor++) if (number % divisor === 0) small.push(divisor);
  const large = small.map((divisor) => number / divisor).toReversed();
  return [...small, ...large.filter((divisor) => divisor > (small.at(-1) as number))];
}

/** Returns the prime factors of a whole number above 1 with their exponents, in ascending order. */
export function primeFactors(number: number): [prime: number, exponent: number][] {
  const found: [number, number][] = [];
  let rest = number;
  for (let prime = 2; prime * prime <= rest; prime++) {
    let exponent = 0;
    for (; rest % prime === 0; rest /= prime) exponent++;
    if (exponent > 0) found.push([prime, exponent]);
  }
  if (rest > 1) found.push([rest, 1]);
  return found;
}
