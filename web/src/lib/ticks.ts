// Where to mark an axis: round numbers, at most six, from 0 to one that is not below `most`. `whole`: without fractions.
export function ticks(most: number, whole: boolean): number[] {
  if (most <= 0) return [0, 1];
  const least = most / 5;
  const power = 10 ** Math.floor(Math.log10(least));
  let step = ([1, 2, 5].find((digit) => digit * power >= least) ?? 10) * power;
  if (whole) step = Math.max(1, step);
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}
