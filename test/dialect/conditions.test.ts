import { describe, expect, test } from "vitest";
import type { Operation } from "../../reconciler/core/model/operation";
import { isGone } from "../../reconciler/core/model/outcome";
import { patternIsIn } from "../../reconciler/core/text/pattern";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { type Answer, judgeAnswer, judgeBreak } from "../../reconciler/dialect/conditions";
import type { ErrorRule, WaitPlace } from "../../reconciler/dialect/dialect";
import { type EnvelopeReader, envelopeReader } from "../../reconciler/dialect/envelope";
import { cleanMessage } from "../../reconciler/dialect/messages";

const nowMs = Date.parse("2030-01-01T00:00:00Z");
const judge = (operation: Operation, answer: Partial<Answer> & { status: number }, errors: readonly ErrorRule[] = []) =>
  judgeAnswer(operation, { text: "", ...answer }, { errors, nowMs, scrub: (text) => text });
const envelope = (code: number, message: string): string => JSON.stringify({ error: { code, message } });
const refusal = (operation: Operation, status: number, message = "no") =>
  judge(operation, { status, text: envelope(status, message) });

describe("refusals by name", () => {
  const cases: Record<string, [Operation, number, string, string]> = {
    "Errors 3: a missing group name is a bad request": ["group.create", 400, "name cannot be empty", "bad_request"],
    "Errors 3: an empty data volume size is a bad request": [
      "vm.create",
      400,
      "size must be at least 1",
      "bad_request",
    ],
    "Errors 3: an identical rule is rule_exists": [
      "group.rule.create",
      409,
      "This rule already exists in the selected security group.",
      "rule_exists",
    ],
    "a quota is no rule that exists": ["group.rule.create", 409, "Quota exceeded for rules", "conflict"],
    "Security groups 2: a rule twice in a create": ["group.create", 409, "This rule already exists", "rule_exists"],
    "Security groups 4: a name already used": ["group.update", 409, "conflict", "name_taken"],
    "a name already used on create": ["group.create", 409, "a group with that name already exists", "name_taken"],
    "another conflict on create": ["group.create", 409, "conflict", "conflict"],
    "Security groups 5: attached to VMs": [
      "group.delete",
      409,
      "security group is attached to 2 VMs",
      "group_attached",
    ],
    "attached to VMs, as a bad request": [
      "group.delete",
      400,
      "group is attached to one or more VMs",
      "group_attached",
    ],
    "Volumes 3: flush not confirmed": ["volume.detach", 400, "flush not confirmed", "flush_not_confirmed"],
    "Volumes 3: flush not confirmed, as a conflict": [
      "volume.detach",
      409,
      "flush_confirmed must be confirmed",
      "flush_not_confirmed",
    ],
    "Volumes 6: attached and cannot be extended": [
      "volume.resize",
      400,
      "Volume is attached and cannot be extended",
      "volume_attached",
    ],
    "Volumes 5: a root disk": ["volume.resize", 400, "a root disk cannot be resized", "root_disk"],
    "Volumes 7: not in the project": ["volume.get", 404, "volume not found", "not_found"],
    "VM: invalid state transition by status": ["vm.resize", 409, "no", "invalid_state"],
    "VM: invalid state transition by words": ["vm.stop", 400, "Invalid state transition", "invalid_state"],
    "a name taken, never an invalid state": ["vm.create", 409, "a VM with this name already exists", "name_taken"],
    "Security groups 7: an invalid id is the only answer named for a group that is not there": [
      "group.rule.list",
      400,
      "invalid security group id",
      "not_found",
    ],
    "an invalid id of a volume says nothing about what was made under it": [
      "volume.get",
      400,
      "invalid volume id",
      "invalid_id",
    ],
    unauthenticated: ["vm.list", 401, "who are you", "unauthenticated"],
    "Authentication 4: platform-managed": ["group.delete", 403, "not permitted", "forbidden"],
    "any other refusal": ["vm.list", 418, "teapot", "refused"],
  };
  for (const [title, [operation, status, message, condition]] of Object.entries(cases))
    test(title, () => {
      expect(refusal(operation, status, message)).toEqual({
        status: "rejected",
        condition,
        message,
        httpStatus: status,
      });
    });

  test.each([
    ["an assumed list that is not there", "image.list", 404],
    ["a method that is not there", "group.rule.delete", 405],
    ["a read that is not implemented", "vm.get", 501],
    ["a write beyond the contract that is not implemented", "vm.resize.confirm", 501],
  ] as const)("%s is unsupported, with the line that says so", (_, operation, status) => {
    expect(refusal(operation, status, "no route")).toEqual({
      status: "rejected",
      condition: "unsupported",
      message: "no route",
      httpStatus: status,
      hint: `in the dialect: operations: { ${operation}: null }`,
    });
  });

  test.each(["vm.resize.confirm", "vm.resize.revert", "volume.delete", "group.rule.delete"] as const)(
    "%s: a not-found may speak of the operation, and the line for it is told",
    (operation) =>
      expect(refusal(operation, 404, "page not found")).toMatchObject({
        condition: "not_found",
        hint: `in the dialect: operations: { ${operation}: null }, if this service does not have it`,
      }),
  );

  test.each([
    ["vm.list", "2", "unavailable"],
    ["group.rule.list", "2", "unavailable"],
    ["vm.list", undefined, "accepted"],
    ["vm.get", "2", "accepted"],
    ["vm.create", "2", "accepted"],
  ] as const)("202 with an empty list as the answer to %s, Retry-After %s, is %s", (operation, retryAfter, status) => {
    const judged = judge(operation, { status: 202, text: '{"data":[]}', ...(retryAfter && { retryAfter }) });
    expect(judged).toMatchObject({ status, ...(status === "unavailable" && { retryAfterMs: 2000 }) });
  });

  test.each([206, 207])("a list answered with %s is a part of what there is", (status) => {
    expect(judge("volume.list", { status, text: '{"data":[]}' }).status).toBe("unavailable");
  });

  test.each([
    ["items 0-1/5", 206, "accepted"],
    ["items 0-1/*", 206, "unavailable"],
    ["items 0-1/5", 207, "unavailable"],
  ])("a part that says %s of how many, under %s, is %s", (range, status, expected) => {
    const answer = { status, text: '[{"id":"1"},{"id":"2"}]', paging: { "content-range": range } };
    expect(judge("volume.list", answer).status).toBe(expected);
  });

  test("words count only for the operations that can mean them", () => {
    expect(refusal("volume.attach", 409, "the name of db is already attached")).toMatchObject({
      condition: "conflict",
    });
    expect(refusal("vm.create", 400, "flush-confirm is no image")).toMatchObject({ condition: "bad_request" });
  });

  test("the dialect's rules come before the defaults", () => {
    const rules: ErrorRule[] = [
      { is: "group_attached", status: 404, message: "in * use" },
      { is: "forbidden", status: 409 },
    ];
    expect(judge("group.delete", { status: 404, text: envelope(404, "still In Some Use") }, rules)).toMatchObject({
      condition: "group_attached",
    });
    expect(judge("group.delete", { status: 404, text: envelope(404, "no") }, rules)).toMatchObject({
      condition: "not_found",
    });
    expect(judge("vm.stop", { status: 409, text: "" }, rules)).toMatchObject({ condition: "forbidden" });
  });
});

describe("a refusal that may pass by itself", () => {
  const google = (code: number, message: string, reason: string) =>
    JSON.stringify({ error: { code, message, errors: [{ reason }] } });

  test.each([
    [
      "a limit under 403",
      "volume.list",
      403,
      google(403, "Exceeded 20 of them", "rateLimitExceeded"),
      "Exceeded * of them",
    ],
    [
      "a lock under 412",
      "vm.resize",
      412,
      google(412, "It is being changed", "conditionNotMet"),
      "It is being changed",
    ],
  ] as const)("%s is told with the line that would have it waited out", (_, operation, status, text, message) => {
    const hint = `in the dialect, if this passes by itself: errors: [{ is: throttled, status: ${status}, message: "${message}" }]`;
    expect(judge(operation, { status, text })).toMatchObject({ status: "rejected", hint });
    const rule = { is: "throttled", status, message } as const;
    expect(judge(operation, { status, text }, [rule])).toMatchObject({ status: "unavailable", throttled: true });
  });

  test.each([
    ["volume.list", 403, "you may not see this"],
    ["vm.create", 409, "there is one of this name"],
  ] as const)("%s answered %d: nothing of that kind is offered", (operation, status, message) =>
    expect(refusal(operation, status, message)).not.toHaveProperty("hint"),
  );
});

describe("what is not there, not in the service's own words", () => {
  const html = { text: "<html>no such page</html>", contentType: "text/html" };
  const bare: Record<string, Partial<Answer>> = {
    "without a body": {},
    "in HTML": html,
    "in JSON of another kind": { text: '{"message":"no Route matched with those values"}' },
    "with a code in words": { text: '{"error":{"code":"NotFound","message":"no such volume"}}' },
    "with a code alone": { text: '{"error":{"code":404}}' },
    "as a text": { text: '"not found"' },
  };
  for (const [title, answer] of Object.entries(bare))
    test(`${title}: nothing is gone by it`, () => {
      for (const status of [404, 405, 410])
        for (const operation of ["volume.get", "group.rule.list", "volume.delete", "vm.get", "vm.delete"] as const) {
          const judged = judge(operation, { status, ...answer });
          expect(judged).toMatchObject({ status: "rejected" });
          expect(isGone(judged)).toBe(false);
        }
    });

  test.each([
    ["a documented read or delete is not proven", "volume.get", 404, "not_proven"],
    ["by another method neither", "vm.delete", 405, "not_proven"],
    ["a claimed operation is unsupported", "vm.get", 404, "unsupported"],
    ["a claimed delete too", "volume.delete", 410, "unsupported"],
    ["a claimed write too", "vm.resize.confirm", 404, "unsupported"],
    ["a claimed list too", "vm.list", 404, "unsupported"],
  ] as const)("%s", (_, operation, status, condition) => {
    expect(judge(operation, { status, ...html })).toMatchObject({ condition, httpStatus: status });
  });

  test("a documented write may have been done before something else answered", () => {
    expect(judge("volume.create", { status: 404, ...html })).toMatchObject({
      status: "unknown",
      reason: expect.stringContaining("errors: [{ is: not_found, status: 404 }]"),
    });
  });

  test.each([
    ["volume.get", html, "errors: [{ is: not_found, status: 404 }]"],
    [
      "volume.get",
      { text: '{"message":"Volume 7f3-a1 of 7e does not exist"}' },
      'errors: [{ is: not_found, status: 404, message: "Volume * of * does not exist" }]',
    ],
    ["vm.get", html, "operations: { vm.get: null } (this service does not have it), or errors: [{ is: not_found"],
    ["vm.list", html, "operations: { vm.list: null }"],
  ] as const)("%s: the hint holds the line that gives the answer its meaning", (operation, answer, line) => {
    expect(judge(operation, { status: 404, ...answer })).toMatchObject({ hint: expect.stringContaining(line) });
  });

  test("and that line does, for what is read by its id", () => {
    const errors: ErrorRule[] = [{ is: "not_found", status: 404 }];
    for (const operation of ["volume.get", "vm.get", "volume.delete"] as const)
      expect(isGone(judge(operation, { status: 404, ...html }, errors))).toBe(true);
    expect(judge("vm.list", { status: 404, ...html }, errors)).toMatchObject({ condition: "unsupported" });
    const said: ErrorRule[] = [{ is: "not_found", status: 404, message: "Volume * does not exist" }];
    const answer = { status: 404, text: '{"message":"Volume 7f3 does not exist"}' };
    expect(isGone(judge("volume.get", answer, said))).toBe(true);
    expect(isGone(judge("volume.get", { status: 404, ...html }, said))).toBe(false);
  });

  test("in the envelope it is gone; a method that is refused never is", () => {
    for (const status of [404, 410]) expect(isGone(refusal("volume.get", status))).toBe(true);
    expect(isGone(refusal("volume.get", 405))).toBe(false);
    expect(isGone(refusal("volume.get", 400, "invalid id"))).toBe(false);
  });
});

describe("what is no refusal", () => {
  const cases: Record<string, [Partial<Answer> & { status: number }, string, string]> = {
    "500": [{ status: 500, text: envelope(500, "x") }, "unavailable", "unknown"],
    "503 with HTML": [{ status: 503, text: "<html>", contentType: "text/html" }, "unavailable", "unknown"],
    "500 whose message names a condition": [
      { status: 500, text: envelope(500, "Volume is attached and cannot be extended") },
      "unavailable",
      "unknown",
    ],
    "408": [{ status: 408 }, "unavailable", "unknown"],
    "429": [{ status: 429 }, "unavailable", "unavailable"],
    "425": [{ status: 425 }, "unavailable", "unavailable"],
    "200 with HTML": [{ status: 200, text: "<html>" }, "unavailable", "unknown"],
    "200 with half of a JSON": [{ status: 200, text: '{"data":' }, "unavailable", "unknown"],
    "200 with an error inside": [{ status: 200, text: envelope(500, "x") }, "unavailable", "unknown"],
    "200 with success: false": [{ status: 200, text: '{"success":false}' }, "unavailable", "unknown"],
    "200 with success: false and words": [
      { status: 200, text: '{"success":"false","id":"req-1","message":"quota"}' },
      "unavailable",
      "unknown",
    ],
    "200 with ok: false beside data": [{ status: 200, text: '{"ok":false,"data":[]}' }, "unavailable", "unknown"],
    "200 with status: error": [{ status: 200, text: '{"status":"error","data":null}' }, "unavailable", "unknown"],
    "200 with the code of an error": [
      { status: 200, text: '{"code":500,"msg":"the database is down","data":[]}' },
      "unavailable",
      "unknown",
    ],
    "200 with the status of an error": [
      { status: 200, text: '{"status":"403","data":null}' },
      "unavailable",
      "unknown",
    ],
    "200 with a text as error": [{ status: 200, text: '{"error":"no capacity"}' }, "unavailable", "unknown"],
    "200 with errors beside the data": [
      { status: 200, text: '{"data":[],"errors":[{"message":"one host did not answer"}]}' },
      "unavailable",
      "unknown",
    ],
    "200 with an error whose code is a word": [
      { status: 200, text: '{"error":{"code":"E12","message":"no"}}' },
      "unavailable",
      "unknown",
    ],
    "200 with a record whose state is error": [
      { status: 200, text: '{"id":"v","name":"db","status":"error"}' },
      "accepted",
      "accepted",
    ],
    "200 with a record that keeps an error of its own": [
      { status: 200, text: '{"vm_id":"v","status":"failed","error":"no host"}' },
      "accepted",
      "accepted",
    ],
    "200 with a state of error among records": [
      { status: 200, text: '{"data":[{"id":"v","status":"error","error":"x","success":false}],"errors":[]}' },
      "accepted",
      "accepted",
    ],
    "200 with success": [
      { status: 200, text: '{"success":true,"status":"ok","error":"","errors":null,"data":{}}' },
      "accepted",
      "accepted",
    ],
    "200 with an import report": [
      { status: 200, text: '{"imported":0,"failed":1,"groups":[{"status":"failed","error":"x"}]}' },
      "accepted",
      "accepted",
    ],
    "200 with JSON": [{ status: 200, text: '"ok"' }, "accepted", "accepted"],
    "202 with an envelope": [{ status: 202, text: '{"data":"x","error":null}' }, "accepted", "accepted"],
    "204 without a body": [{ status: 204 }, "accepted", "accepted"],
    "302": [{ status: 302, location: "https://login.example/x" }, "rejected", "rejected"],
    "303, which follows an effect": [{ status: 303, location: "https://login.example/x" }, "rejected", "unknown"],
    "501": [{ status: 501 }, "rejected", "unknown"],
  };
  for (const [title, [answer, read, write]] of Object.entries(cases))
    test(`${title}: a read is ${read}, a write ${write}, and so is a delete`, () => {
      expect(judge("vm.list", answer).status).toBe(read);
      expect(judge("vm.create", answer).status).toBe(write);
      expect(judge("vm.delete", answer).status).toBe(write);
    });

  test("a dialect that names a 5xx makes a refusal of it", () => {
    const errors: ErrorRule[] = [{ is: "volume_attached", status: 500, message: "attached" }];
    const answer = { status: 500, text: envelope(500, "Volume is attached") };
    expect(judge("volume.resize", answer, errors)).toMatchObject({ status: "rejected", condition: "volume_attached" });
    expect(judge("volume.resize", answer, [{ is: "volume_attached", message: "attached" }]).status).toBe("unknown");
  });

  test("words that the dialect names are a refusal in a 200 as well; a status alone is none", () => {
    const errors: ErrorRule[] = [
      { is: "conflict", status: 409 },
      { is: "not_found", message: "no such volume" },
    ];
    const answer = { status: 200, text: '{"success":false,"message":"No such volume: v"}' };
    expect(judge("volume.get", answer, errors)).toMatchObject({ status: "rejected", condition: "not_found" });
    expect(judge("volume.attach", { ...answer, text: '{"success":false}' }, errors)).toMatchObject({
      status: "unknown",
    });
  });

  describe("a message where the dialect says that refusals have theirs, in a 200", () => {
    const nested = (place: string) => [{ in: "/*", value: place }];
    const own = envelopeReader({
      envelope: { data: [], error: { code: nested("/errorcode"), message: nested("/errortext") } },
      retry_after: null,
    });
    const plain = envelopeReader({
      envelope: { data: [], error: { code: ["/code"], message: ["/message"] } },
      retry_after: null,
    });
    const bare = envelopeReader({
      envelope: { data: [], error: { code: [], message: ["/fault"] } },
      retry_after: null,
    });
    const told = (operation: Operation, body: unknown, envelope: EnvelopeReader, errors: readonly ErrorRule[] = []) =>
      judgeAnswer(
        operation,
        { status: 200, text: JSON.stringify(body) },
        { errors, envelope, nowMs, scrub: (text) => text },
      );
    const down = { revokeresponse: { errorcode: 532, errortext: "the agent is down" } };

    test.each(["group.rule.delete", "group.rule.create", "volume.attach", "vm.create", "vm.list"] as const)(
      "with a code that no rule names: %s is refused in the service's words",
      (operation) => {
        expect(told(operation, down, own, [{ is: "conflict", code: 431 }])).toEqual({
          status: "rejected",
          condition: "refused",
          message: "the agent is down",
          httpStatus: 200,
        });
      },
    );

    test("a rule for any code gives it a name, with or without a status", () => {
      for (const rule of [
        { is: "forbidden", code: "*" },
        { is: "forbidden", code: "*", status: 200 },
        { is: "forbidden", message: "agent" },
      ] as const)
        expect(told("volume.attach", down, own, [rule])).toMatchObject({ status: "rejected", condition: "forbidden" });
    });

    test("without a code a write may have been done, and a read that says nothing else is refused", () => {
      expect(told("vm.create", { fault: "no host" }, bare)).toMatchObject({
        status: "unknown",
        reason: "the service answered 200 and said: no host",
        refusal: { status: "rejected", message: "no host" },
      });
      expect(told("vm.create", { fault: "no host" }, bare)).not.toHaveProperty("accepted");
      expect(told("vm.stop", { fault: "no host" }, bare)).toMatchObject({
        status: "unknown",
        refusal: { message: "no host" },
      });
      expect(told("vm.list", { fault: "no host" }, bare)).toMatchObject({ status: "rejected", message: "no host" });
      expect(told("vm.list", { fault: "2 VMs", items: [] }, bare)).toMatchObject({ status: "accepted" });
      expect(told("vm.get", { fault: "found", id: "1", name: "a" }, bare)).toMatchObject({ status: "accepted" });
    });

    test("a message that every answer has is none: its code says that it was done, or the dialect's success does", () => {
      for (const code of [0, "0", 200, "OK", "Success"])
        expect(told("volume.attach", { code, message: "done" }, plain)).toMatchObject({ status: "accepted" });
      expect(told("volume.attach", { code: 7, message: "no" }, plain)).toMatchObject({ status: "rejected" });
    });

    test("the message of a deleted VM, which the contract describes, is no refusal", () => {
      const anywhere = envelopeReader({
        envelope: { data: [], error: { code: [], message: nested("/message") } },
        retry_after: null,
      });
      const deleted = { message: "deleted", preserved_volumes: ["v-1"] };
      for (const [body, envelope] of [
        [{ data: deleted }, anywhere],
        [{ data: { ...deleted, preserved_volumes: null } }, anywhere],
        [deleted, plain],
      ] as const)
        expect(told("vm.delete", body, envelope)).toEqual({ status: "accepted", value: body });
      expect(told("vm.delete", { itemNotFound: { message: "no" } }, anywhere).status).toBe("unknown");
      expect(told("vm.delete", { success: false, ...deleted }, plain).status).not.toBe("accepted");
      expect(told("vm.delete", { code: 7, ...deleted }, plain).status).toBe("rejected");
    });

    test("a message without the code that the dialect names is no acceptance of a write; a read is read", () => {
      expect(told("volume.attach", { message: "attached" }, plain)).toMatchObject({
        status: "unknown",
        refusal: { message: "attached" },
      });
      expect(told("vm.list", { message: "2 VMs", items: [] }, plain)).toMatchObject({ status: "accepted" });
    });
  });

  describe("a page for people", () => {
    const html = { text: "<!DOCTYPE html><html><title>We are back soon</title>", contentType: "text/html" };
    const signIn = { text: "<html><form action=/x><input type='password' name=p></form>", contentType: "text/html" };

    test("is never an acceptance, and no list", () => {
      for (const page of [html, signIn, { text: html.text }]) {
        const written = judge("group.create", { status: 200, ...page });
        expect(written).toMatchObject({ status: "unknown" });
        expect(written).not.toHaveProperty("accepted");
        expect(judge("group.list", { status: 200, ...page }).status).not.toBe("accepted");
      }
      expect(judge("group.create", { status: 200, text: "ok", contentType: "text/plain" })).toMatchObject({
        status: "unknown",
        accepted: true,
      });
    });

    test.each([
      signIn,
      { text: "<html><head><title>Sign in - ACME</title>", contentType: "text/html" },
      { text: "<html><form method=post action='https://id.example/login?x'>", contentType: "text/html" },
    ])("that asks to sign in speaks of the credential, and another one may be had: %j", (page) => {
      expect(judge("vm.list", { status: 200, ...page })).toMatchObject({
        status: "rejected",
        condition: "unauthenticated",
        message: expect.stringContaining("the credential may have expired"),
      });
      expect(judge("vm.create", { status: 200, ...page })).toMatchObject({
        status: "unknown",
        reason: expect.stringContaining("the credential may have expired"),
      });
      expect(JSON.stringify(judge("vm.list", { status: 200, ...html }))).not.toContain("credential");
    });

    test.each(["/login", "https://id.example/oauth2/authorize?client=1", "//sso.example/", "/auth/sign-in"])(
      "so does a redirect to %s",
      (location) => {
        expect(judge("vm.list", { status: 302, location })).toMatchObject({
          condition: "unauthenticated",
          message: expect.stringContaining("the credential may have expired"),
        });
        expect(judge("vm.list", { status: 302, location: "/api/v2/logins-of-vms" })).toMatchObject({
          condition: "refused",
        });
      },
    );

    test("is named by its type in a rule, and a redirect by where it leads", () => {
      const byType: ErrorRule[] = [{ is: "unauthenticated", status: 200, type: "text/html" }];
      const page = { status: 200, text: html.text, contentType: "text/html; charset=utf-8" };
      for (const operation of ["vm.list", "group.create", "vm.delete"] as const)
        expect(judge(operation, page, byType)).toMatchObject({ status: "rejected", condition: "unauthenticated" });
      expect(judge("group.create", { ...page, contentType: "text/plain" }, byType).status).toBe("unknown");
      expect(judge("group.create", { status: 200, text: "{}", contentType: "application/json" }, byType).status).toBe(
        "accepted",
      );
      const byPlace: ErrorRule[] = [{ is: "throttled", location: "queue.example/*" }];
      expect(judge("vm.create", { status: 303, location: "https://queue.example/wait" }, byPlace)).toMatchObject({
        status: "unavailable",
        throttled: true,
      });
      expect(judge("vm.create", { status: 303, location: "/elsewhere" }, byPlace).status).toBe("unknown");
      expect(judge("vm.create", { status: 201, location: "/queue.example/1", text: "{}" }, byPlace).status).toBe(
        "accepted",
      );
    });
  });

  test("broken before it was sent is unavailable; after, a write is unknown and a read unavailable", () => {
    expect(judgeBreak("vm.create", false, "refused")).toEqual({ status: "unavailable", reason: "refused" });
    expect(judgeBreak("vm.create", true, "reset")).toEqual({ status: "unknown", reason: "reset" });
    expect(judgeBreak("vm.list", true, "reset")).toEqual({ status: "unavailable", reason: "reset" });
  });

  test("a redirect names the host it leads to, and not what it carries", () => {
    const redirect = (location?: string) =>
      judge("vm.list", { status: 302, ...(location !== undefined && { location }) }) as { message: string };
    expect(redirect("https://login.example/a?token=1").message).toMatch(/login\.example,/);
    expect(redirect("//other.example/a").message).toMatch(/other\.example,/);
    expect(redirect("/login?next=1").message).toMatch(/another path, \/login,/);
    expect(redirect("::").message).toMatch(/not a URL/);
    expect(redirect().message).toMatch(/unnamed/);
  });

  test("a 304 leads nowhere", () => {
    expect(judge("vm.list", { status: 304 })).toMatchObject({
      status: "rejected",
      message: expect.stringMatching(/^a cache has answered that nothing changed \(304\)/),
    });
  });

  test.each([
    ["volume.get", "/error/not-found?id=7", "/error/not-found"],
    ["volume.delete", "https://portal.example/404.html", "/404.html"],
    ["volume.get", "/error/4040", undefined],
    ["volume.get", "https://gone.example/v2", undefined],
    ["vm.list", "/error/not-found", undefined],
    ["vm.create", "/error/not-found", undefined],
  ] as const)("%s that leads to %s may mean that it is gone", (operation, location, place) => {
    const line = `errors: [{ is: not_found, location: ${place} }]`;
    expect(judge(operation, { status: 302, location })).toMatchObject({ status: "rejected", condition: "refused" });
    const { hint } = judge(operation, { status: 302, location }) as { hint?: string };
    expect(hint).toEqual(place === undefined ? undefined : expect.stringContaining(line));
  });

  test.each([
    ["7", 7000],
    [" 0 ", 0],
    ["Tue, 01 Jan 2030 00:00:30 GMT", 30_000],
    ["Tue, 01 Jan 2019 00:00:30 GMT", 0],
    ["1.5", 1500],
    ["999999999", 86_400_000],
    ["1893456030", 30_000],
    ["1893456030000", 30_000],
    ["2030-01-01T00:00:30Z", 30_000],
    ["1593456030", 0],
    ["soon", undefined],
    ["-5", undefined],
  ])("Retry-After %j is %j ms", (retryAfter, expected) => {
    expect(judge("vm.create", { status: 429, retryAfter })).toMatchObject({ status: "unavailable" });
    expect((judge("vm.create", { status: 429, retryAfter }) as { retryAfterMs?: number }).retryAfterMs).toBe(expected);
  });
});

describe("the dialect's own header of a wait", () => {
  const waitOf = (place: WaitPlace, answer: Partial<Answer>, status = 429) => {
    const { envelope, ...dialect } = builtInDialect;
    const reader = envelopeReader({ envelope, retry_after: place });
    const judged = judgeAnswer(
      "vm.list",
      { status, text: "", ...answer },
      { errors: dialect.errors, envelope: reader, nowMs, scrub: (text) => text },
    );
    return (judged as { retryAfterMs?: number }).retryAfterMs;
  };
  test.each([
    ["X-Wait", "30", 30_000],
    ["X-Wait", "1893456030", 30_000],
    [{ header: "X-Wait" }, "1893456030", 30_000],
    [{ header: "X-Wait", as: "epoch" }, "1893456030", 30_000],
    [{ header: "X-Wait", as: "epoch" }, "30", 0],
    [{ header: "X-Wait", as: "seconds" }, "1893456030", 86_400_000],
    [{ header: "X-Wait", as: "seconds" }, "30", 30_000],
    [{ header: "X-Wait", as: "date" }, "2030-01-01T00:00:30Z", 30_000],
    [{ header: "X-Wait", as: "date" }, "30", undefined],
  ] as const)("%j: %s", (place, wait, expected) => expect(waitOf(place, { wait })).toBe(expected));

  test("Retry-After comes first, and the end of a limit says nothing of a service that is broken", () => {
    expect(waitOf("X-Wait", { wait: "30", retryAfter: "7" })).toBe(7000);
    // A proxy adds its own; both are in one line then.
    expect(waitOf("X-Wait", { retryAfter: "2, 7" })).toBe(7000);
    expect(waitOf("X-Wait", { wait: "30" }, 503)).toBe(30_000);
    expect(waitOf("X-Wait", { wait: "1893456030" }, 503)).toBeUndefined();
    expect(waitOf({ header: "X-Wait", as: "epoch" }, { wait: "1893456030" }, 500)).toBeUndefined();
  });
});

describe("messages", () => {
  test.each([
    ['{"error":{"message":"a"}}', "a"],
    ['{"error":"a"}', "a"],
    ['{"message":"a"}', "a"],
    ['{"detail":"a"}', "a"],
    ['"a"', "a"],
    ['{"error":{"message":7}}', "the service answered 400"],
    ["", "the service answered 400"],
  ])("%s says %j", (text, message) => {
    expect(judge("vm.create", { status: 400, text })).toMatchObject({ message });
  });

  test("HTML is not repeated, its type is", () => {
    expect(judge("vm.create", { status: 400, text: "<h1>", contentType: "text/html; charset=x" })).toMatchObject({
      message: "the service answered 400 (text/html)",
    });
  });

  test("no control character and no direction mark gets through, and a long message is cut", () => {
    expect(cleanMessage("a\u001b[31mred\u0007\r\nb\u202ec\u009b1m")).toBe("a [31mred b c 1m");
    expect(cleanMessage("x".repeat(5000))).toHaveLength(500);
  });

  test("a pattern is found anywhere, in either case, with * for anything", () => {
    expect(patternIsIn("The Volume IS attached", "volume is*")).toBe(true);
    expect(patternIsIn("a b c", "a*c")).toBe(true);
    expect(patternIsIn("c a", "a*c")).toBe(false);
    expect(patternIsIn("a".repeat(400), `${"a*".repeat(200)}b`)).toBe(false);
  });
});
