const split = (names: string): string[] => names.trim().split(/\s+/);

/** Functions that keep integers and fractions exact. */
export const EXACT_FUNCTIONS: ReadonlySet<string> = new Set(
  split(`
  abs add ceil column combinations compare concat count cross cube cumsum deepEqual den det diag diff divide dot
  dotDivide dotMultiply equal factorial fix flatten floor fraction gcd inv isInteger isNegative isPositive isZero kron
  larger largerEq lcm max mean median min mod mode multiply num permutations pow prod range reshape round row sign size
  smaller smallerEq sort sqrt square squeeze subset subtract sum trace transpose unaryMinus unaryPlus unequal variance
  dotPow and or xor not`),
);

/**
 * Functions that an expression may call. None evaluates text, changes the library, draws random numbers or reaches an object of JavaScript. Functions
 * whose results have fewer correct digits than they show (`zeta`, `sqrtm`, `expm1` and `log1p` of small numbers) are left out.
 */
export const FUNCTIONS: ReadonlySet<string> = new Set([
  ...EXACT_FUNCTIONS,
  ...split(`
  acos acosh acot acoth acsc acsch arg asec asech asin asinh atan atan2 atanh bellNumbers bernoulli bitAnd bitNot bitOr
  bitXor catalan cbrt combinationsWithRep complex composition conj corr cos cosh cot coth csc csch ctranspose distance
  eigs erf exp expm fft gamma hypot identity ifft im intersect invmod isNaN isNumeric isPrime leftShift lgamma
  log log10 log2 lsolve lup lusolve mad map matrix multinomial norm nthRoot nthRoots ones pinv polynomialRoot qr
  quantileSeq re rightArithShift rightLogShift rotationMatrix sec sech setCartesian setDifference setDistinct
  setIntersect setIsSubset setMultiplicity setPowerset setSize setSymDifference setUnion sin sinh std stirlingS2
  tan tanh to toBest usolve xgcd zeros`),
]);

/** Constants whose value is a number. */
export const NUMBERS: ReadonlySet<string> = new Set(
  split("e E pi PI tau phi LN2 LN10 LOG2E LOG10E SQRT1_2 SQRT2 Infinity NaN fineStructure efimovFactor"),
);

/** Other constants: truth values, the imaginary unit, physical constants. */
export const CONSTANTS: ReadonlySet<string> = new Set(
  split(`
  true false i atomicMass avogadro bohrMagneton bohrRadius boltzmann classicalElectronRadius conductanceQuantum coulomb
  coulombConstant deuteronMass electricConstant electronMass elementaryCharge faraday fermiCoupling firstRadiation
  gasConstant gravitationConstant gravity hartreeEnergy inverseConductanceQuantum klitzing loschmidt magneticConstant
  magneticFluxQuantum molarMass molarMassC12 molarPlanckConstant molarVolume neutronMass nuclearMagneton planckCharge
  planckConstant planckLength planckMass planckTemperature planckTime protonMass quantumOfCirculation
  reducedPlanckConstant rydberg sackurTetrode secondRadiation speedOfLight stefanBoltzmann thomsonCrossSection
  vacuumImpedance weakMixingAngle wienDisplacement`),
);
