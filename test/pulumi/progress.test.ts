import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { progressOf, unreadMs } from "../../provider/plugin/progress";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("progress is told once it has lasted, of a quick sequence the last, and nothing after the end", () => {
  const told: string[] = [];
  const { tell, end } = progressOf((message) => void told.push(message));
  tell("create volume data");
  tell("create volume data: accepted");
  expect(told).toEqual([]);
  vi.advanceTimersByTime(unreadMs);
  expect(told).toEqual(["create volume data: accepted"]);
  tell("creating");
  vi.advanceTimersByTime(unreadMs);
  tell("available");
  end();
  vi.advanceTimersByTime(10 * unreadMs);
  expect(told).toEqual(["create volume data: accepted", "creating"]);
});
