// For the test of what a large plan holds (test/e2e/memory.test.ts).
export function prepareState(folder: string): void;
