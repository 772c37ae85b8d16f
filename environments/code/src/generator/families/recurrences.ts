import { type Family, sketch } from "../sketch.ts";

/** Terms of a sequence that is defined by its previous terms; harder ones depend on more terms or ask for a sum. */
export const recurrences: Family = {
  name: "recurrences",
  generate(random, difficulty) {
    const order = difficulty < 3 ? 1 : difficulty < 7 ? 2 : 3;
    const start = Array.from({ length: order }, () => random.integer(0, 9));
    const factors = Array.from({ length: order }, () => random.integer(1, 4));
    const [constant, modulus] = [random.integer(0, 9), random.integer(50, 1000)];
    const isSum = difficulty >= 5 && random.next() < 0.5;
    const terms = factors.map((factor, i) => `${factor === 1 ? "" : `${factor} `}f(i-${i + 1})`);
    const code = [...factors.map((factor, i) => `${factor} * terms[i - ${i + 1}]`), String(constant)].join(" + ");
    const sequence = (n: number): number[] => {
      const terms = [...start];
      while (terms.length <= n)
        terms.push(factors.reduce((sum, factor, i) => sum + factor * (terms.at(-1 - i) as number), constant) % modulus);
      return terms.slice(0, n + 1);
    };
    return sketch<[number]>({
      name: isSum ? "sum_of_terms" : "term",
      parameters: [["n", "int"]],
      returns: "int",
      prose: `A sequence begins with ${start.map((value, i) => `f(${i}) = ${value}`).join(", ")}. After that, f(i) is the remainder of ${terms.join(" + ")} + ${constant} when divided by ${modulus}. Return ${isSum ? "the sum of f(0) to f(n)" : "f(n)"} for n of at least 0.`,
      terse: `${start.join(" ")};${factors.join(" ")};${constant};%${modulus}${isSum ? ";sum" : ""}`,
      python: [
        `terms = [${start.join(", ")}]`,
        `for i in range(${order}, n + 1):`,
        `    terms.append((${code}) % ${modulus})`,
        isSum ? "return sum(terms[:n + 1])" : "return terms[n]",
      ],
      typescript: [
        `const terms = [${start.join(", ")}];`,
        `for (let i = ${order}; i <= n; i++) terms.push((${code}) % ${modulus});`,
        isSum ? "return terms.slice(0, n + 1).reduce((sum, term) => sum + term, 0);" : "return terms[n];",
      ],
      solve: (n) => (isSum ? sequence(n).reduce((sum, term) => sum + term, 0) : (sequence(n).at(-1) as number)),
      draw: (stream) => [stream.integer(0, stream.pick([8, 20, 60]))],
      edges: [[0], [1]],
    });
  },
};
