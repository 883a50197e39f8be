/** What of a program's own must not be deleted, because another resource of it manages it by now (one/ownership.ts). */
import { expect, it } from "vitest";
import type { HandlerService } from "../../reconciler/one/handler";
import { claimMade, claimSeen, isClaimed, releaseClaim, staysWithAnother } from "../../reconciler/one/ownership";
import type { ProgramNotes } from "../../reconciler/one/program-notes";

const disk = "volume:d-1";
const serviceOf = () => ({ client: { origin: "https://cloud.example" } }) as unknown as HandlerService;

/** Notes of a program in which somebody has claimed the disk. */
const notedBy = (owner: string | undefined): ProgramNotes =>
  ({
    claimOf: () => (owner === undefined ? undefined : { owner, by: "urn:other" }),
    claimAt: () => "notes/d-1",
    unclaim: () => undefined,
  }) as unknown as ProgramNotes;

type Claims = (service: HandlerService) => void | Promise<void>;
const nobody: Claims = () => undefined;
const made =
  (owner: string): Claims =>
  (service) =>
    claimMade(service, disk, owner);
const seen =
  (...owners: readonly (string | undefined)[]): Claims =>
  async (service) => {
    for (const owner of owners) await claimSeen(service, disk, { owner }, undefined);
  };

it.each<
  readonly [what: string, claims: Claims, noted: string | undefined, owner: string | undefined, why: RegExp | undefined]
>([
  ["what nobody has claimed", nobody, undefined, "me", undefined],
  ["what nobody has claimed, of a state without an owner", nobody, undefined, undefined, undefined],
  ["what it made itself", made("me"), undefined, "me", undefined],
  ["what another made", made("other"), undefined, "me", /^disk stays: another resource/],
  ["what it has seen", seen("me"), undefined, "me", undefined],
  ["what another has seen", seen("other"), undefined, "me", /^disk stays/],
  ["what two have seen, the one after the other", seen("other", "me"), undefined, "me", /^disk stays/],
  ["what it has seen twice", seen("me", "me"), undefined, "me", undefined],
  ["what its own note claims", nobody, "me", "me", undefined],
  ["what another's note claims", nobody, "other", "me", /by now \(urn:other\).*remove the file notes\/d-1/],
  ["what it made, and another's note claims", made("me"), "other", "me", /\(urn:other\)/],
  ["what another made, and its own note claims", made("other"), "me", "me", /^disk stays: [^(]*by now\. Where/],
])("%s", async (_, claims, noted, owner, why) => {
  const service = serviceOf();
  await claims(service);
  const says = staysWithAnother(service, disk, owner, notedBy(noted), "disk");
  if (why === undefined) expect(says).toBeUndefined();
  else expect(says).toMatch(why);
});

it("what was let go of is nobody's", () => {
  const service = serviceOf();
  claimMade(service, disk, "other");
  releaseClaim(service, disk, undefined);
  expect(isClaimed(service, disk)).toBe(false);
  expect(staysWithAnother(service, disk, "me", undefined, "disk")).toBeUndefined();
});
