/** What of a program's own must not be deleted, because another resource of it manages it by now (one/ownership.ts). */
import { describe, expect, it } from "vitest";
import type { HandlerService } from "../../reconciler/one/handler";
import {
  claimMade,
  claimSeen,
  isClaimed,
  releaseClaim,
  staysWithAnother,
  taking,
} from "../../reconciler/one/ownership";
import type { ProgramNotes } from "../../reconciler/one/program-notes";
import { createNotebook } from "../support/notes-in-memory";

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

const both =
  (first: Claims, second: Claims): Claims =>
  async (service) => {
    await first(service);
    await second(service);
  };

it.each<
  readonly [what: string, claims: Claims, noted: string | undefined, owner: string | undefined, why: RegExp | undefined]
>([
  ["what nobody has claimed", nobody, undefined, "me", undefined],
  ["what nobody has claimed, of a state without an owner", nobody, undefined, undefined, undefined],
  ["what it made itself", made("me"), undefined, "me", undefined],
  ["what another made", made("other"), undefined, "me", /^disk stays: another resource/],
  ["what it made itself, and another has seen since", both(made("me"), seen("other")), undefined, "me", undefined],
  ["what another made, and it has seen since", both(made("other"), seen("me")), undefined, "me", /^disk stays/],
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

describe("what is taken over while a call goes on", () => {
  const at = `https://cloud.example ${disk}`;
  const stage = () => {
    const { notesOf } = createNotebook({ sleep: async () => undefined });
    return { service: serviceOf(), notes: notesOf("urn:me", { name: "process", pid: 1 }) };
  };
  const fails = () => Promise.reject(new Error("refused"));
  const claimed = (service: HandlerService, owner: string) =>
    staysWithAnother(service, disk, owner, undefined, "disk") === undefined && isClaimed(service, disk);

  it("is its own in the notes before the call, and stays so where the call ends well", async () => {
    const { service, notes } = stage();
    claimMade(service, disk, "other");
    let during: unknown;
    const answer = await taking(service, [disk, "rule:r"], "me", notes, async () => {
      during = [notes.claimOf(at), notes.claimOf("https://cloud.example rule:r")];
      return "done";
    });
    expect([answer, during]).toEqual([
      "done",
      [
        { owner: "me", by: "urn:me" },
        { owner: "me", by: "urn:me" },
      ],
    ]);
    expect([notes.claimOf(at), claimed(service, "me")]).toEqual([{ owner: "me", by: "urn:me" }, true]);
  });

  it("is nobody's again where nobody had claimed it and the call fails", async () => {
    const { service, notes } = stage();
    await expect(taking(service, [disk], "me", notes, fails)).rejects.toThrow("refused");
    expect([notes.claimOf(at), isClaimed(service, disk)]).toEqual([undefined, false]);
  });

  it("is the former owner's again where the call fails, in this process and in the notes", async () => {
    const { service, notes } = stage();
    claimMade(service, disk, "other");
    await notes.claim(at, "other", "urn:other");
    await expect(taking(service, [disk, "rule:r"], "me", notes, fails)).rejects.toThrow("refused");
    expect([notes.claimOf(at), claimed(service, "other")]).toEqual([{ owner: "other", by: "urn:other" }, true]);
    expect([notes.claimOf("https://cloud.example rule:r"), isClaimed(service, "rule:r")]).toEqual([undefined, false]);
  });

  it.each<readonly [what: string, owner: string | undefined, imported: true | undefined, noted: string | undefined]>([
    ["an import claims what it names", "me", true, "me"],
    ["what was not imported claims nothing in the notes", "me", undefined, undefined],
    ["an import of a state without an owner claims nothing", undefined, true, undefined],
  ])("seen again: %s", async (_, owner, imported, noted) => {
    const { service, notes } = stage();
    await claimSeen(service, disk, { owner, imported }, notes);
    expect(notes.claimOf(at)?.owner).toBe(noted);
  });

  it("seen again: what the import has claimed before is not written a second time", async () => {
    const { service, notes } = stage();
    await notes.claim(at, "me", "urn:first");
    await claimSeen(service, disk, { owner: "me", imported: true }, notes);
    expect(notes.claimOf(at)).toEqual({ owner: "me", by: "urn:first" });
  });
});
