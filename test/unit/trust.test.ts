/** What a closed run does not obey, where the trick is in the spelling. */
import { describe, expect, it } from "vitest";
import { closedTrust, refusedCheck, refusedState, trustFrom } from "../../reconciler/outside/trust";

const trusting = trustFrom();
const closed = closedTrust("--no-programs", "/checkout", ["https://known.example"]);

describe("a state on a database that is known", () => {
  const given = "postgres://me:secret@db.example/app?state=mine";
  it.each([
    ["postgres://db.example/app?state=theirs&schema=other", true],
    ["postgresql://db.example/app?state=theirs&sslmode=require", false],
    ["postgres://db.example/app?state=theirs&host=evil.example", false],
    ["postgres://db.example/app?state=theirs&port=1", false],
    ["postgres://db.example/app?state=theirs&sslkey=/home/me/.ssh/id", false],
    ["postgres://evil.example/app?state=theirs", false],
  ])("%s: %s", (location, isObeyed) => {
    expect(refusedState(closed, location, given) === undefined).toBe(isObeyed);
    expect(refusedState(trusting, location, given)).toBeUndefined();
  });
});

describe("a state in a file", () => {
  it.each([
    ["/checkout/part/state.json", true],
    ["file:///checkout/part/state.json", true],
    ["file:///checkout/p%61rt/state.json", true],
    ["/checkout/../etc/state.json", false],
    ["file:///etc/state.json", false],
    ["file://localhost/etc/state.json", false],
    ["FILE://LOCALHOST/etc/state.json", false],
    ["file:///checkout/%2e%2e/etc/state.json", false],
    ["file:///checkout/.%2E/etc/state.json", false],
  ])("%s: %s", (location, isObeyed) => {
    expect(refusedState(closed, location, undefined) === undefined).toBe(isObeyed);
    expect(refusedState(trusting, location, undefined)).toBeUndefined();
  });
});

describe("the address of a check", () => {
  it.each([
    ["http://{ip}/health", true],
    ["http://[{ip}]:8080/health", true],
    ["https://known.example/up", true],
    ["http://169.254.169.254/latest/meta-data", false],
    ["http://{ip}:80@evil.example/", false],
    ["http://evil.example/{ip}", false],
    ["http://${vm.web.private_ip}/", false],
  ])("%s: %s", (url, isObeyed) => {
    expect(refusedCheck(closed, url) === undefined).toBe(isObeyed);
    expect(refusedCheck(trusting, url)).toBeUndefined();
  });
});
