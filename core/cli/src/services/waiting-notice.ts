/** A training process that starts makes its directory some seconds before it locks it. */
const TOLD_MS = 10_000;

/** Returns a function that is given whether a process trains the run, and reports once that none has for 10 s; again after one has trained. */
export function waitingNotice(
  run: string,
  notice: (text: string) => void,
  clock: () => number = () => performance.now(),
): (isTrained: boolean) => void {
  let since: number | undefined;
  let isTold = false;
  return (isTrained) => {
    const now = clock();
    since = isTrained ? undefined : (since ?? now);
    isTold &&= !isTrained;
    if (isTold || since === undefined || now - since <= TOLD_MS) return;
    notice(`no process trains ${run}: waiting for mrlm train --resume`);
    isTold = true;
  };
}
