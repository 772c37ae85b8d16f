/** Lower and upper end of a 95 % interval. */
export type Interval = readonly [number, number];

const Z = 1.959964;

/** Interval of a share of n: Wilson's (Journal of the American Statistical Association 22, 1927). */
export function wilsonInterval(share: number, n: number): Interval {
  const square = Z * Z;
  const centre = share + square / (2 * n);
  const reach = Z * Math.sqrt((share * (1 - share)) / n + square / (4 * n * n));
  return [(centre - reach) / (1 + square / n), (centre + reach) / (1 + square / n)];
}

/** Interval of the difference of two paired shares: method 10 of Newcombe (1998), Statistics in Medicine 17, 2635-2650. */
export function gainInterval(pairs: readonly (readonly [before: boolean, after: boolean])[]): Interval {
  const n = pairs.length;
  const count = (before: boolean, after: boolean): number =>
    pairs.filter(([one, other]) => one === before && other === after).length;
  const [both, lost, gained, neither] = [
    count(true, true),
    count(true, false),
    count(false, true),
    count(false, false),
  ];
  const [p1, p2] = [(both + lost) / n, (both + gained) / n];
  const [[l1, u1], [l2, u2]] = [wilsonInterval(p1, n), wilsonInterval(p2, n)];
  const scale = Math.sqrt((both + lost) * (gained + neither) * (both + gained) * (lost + neither));
  const phi = scale === 0 ? 0 : (both * neither - lost * gained) / scale;
  const reach = (one: number, other: number): number => Math.sqrt(one ** 2 - 2 * phi * one * other + other ** 2);
  return [p2 - p1 - reach(p2 - l2, u1 - p1), p2 - p1 + reach(u2 - p2, p1 - l1)];
}
