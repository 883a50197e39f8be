/** What is known of something that was thrown, which may be anything (core/text/errors.ts). */
import { expect, it } from "vitest";
import { asDiagnostics } from "../../reconciler/cli/crash";
import { asError, causeOf, errorCode, errorMessage } from "../../reconciler/core/text/errors";

const cause = new Error("before");
const withCode = (code: unknown) => Object.assign(new Error("m"), { code });

it.each<readonly [what: string, thrown: unknown, message: string, code: string | undefined, cause: unknown]>([
  ["an error", new Error("m"), "m", undefined, undefined],
  ["an error of the system", withCode("ENOENT"), "m", "ENOENT", undefined],
  ["an error whose code is a number", withCode(7), "m", undefined, undefined],
  ["an error with a cause", new Error("m", { cause }), "m", undefined, cause],
  ["an object", { message: 5, code: "E", cause: "c" }, "5", "E", "c"],
  ["an object that says nothing", {}, "[object Object]", undefined, undefined],
  ["a text", "m", "m", undefined, undefined],
  ["null", null, "null", undefined, undefined],
  ["nothing", undefined, "undefined", undefined, undefined],
])("of %s", (_, thrown, message, code, before) => {
  expect([errorMessage(thrown), errorCode(thrown), causeOf(thrown)]).toEqual([message, code, before]);
  expect(asError(thrown)).toBeInstanceOf(Error);
  expect(asError(thrown).message).toBe(message);
});

it.each([
  [{ syscall: "uv_cwd" }, "the working folder is not there any more", "change to a folder that exists"],
  [{ syscall: "open" }, "m", "look at the path, the rights and the space"],
])("an error of the system has a fix: %j", (more, summary, fix) => {
  const [told] = asDiagnostics(Object.assign(withCode("ENOENT"), more)) ?? [];
  expect(told).toMatchObject({ code: "cli/system", summary, fix });
});

it("an error is taken as it is", () => {
  expect(asError(cause)).toBe(cause);
});
