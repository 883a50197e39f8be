/**
 * Now, in milliseconds, on a clock that nobody sets while this process runs: what is measured with it, a pause or the age
 * of what was read, is as long as it was.
 */
export const steadyNow = (): number => performance.timeOrigin + performance.now();
