/** Services that keep a text in another form than it was sent: no difference that a person meant, and no write for it. */
import { describe, expect, it } from "vitest";
import { ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace({ with: ["volume.list", "group.list"] });
const { reconcile, declare } = place;
const paths = { volume: "/api/v1/volume/list", group: "/api/v1/security-group" };
const dialect = {
  operations: {
    "volume.list": { method: "GET", path: paths.volume },
    "group.list": { method: "GET", path: paths.group },
  },
};
const volume = "  Donn\u00e9es de caf\u00e9 ";
const description = "Gehört zum Café,\r\nund zu \u1e9b\u0323 sonst niemandem.\n";
const blocks = {
  volumes: { data: { name: volume, size: 5 } },
  groups: { web: { description, rules: [{ protocol: "tcp", dst_port: 443, description: " für alle\n" }] } },
};

/** Keeps each text that is sent as `kept` has it. */
const keeping = (kept: (text: string) => string) =>
  place.proxy.meddle(async ({ method, body }, forward) => {
    if (method === "GET" || body === "") return forward();
    const asked = Object.entries(JSON.parse(body)).map(([key, value]) => [
      key,
      typeof value === "string" ? kept(value) : value,
    ]);
    return forward(JSON.stringify(Object.fromEntries(asked)));
  });

describe("a text that the service keeps", () => {
  it.each([
    ["as it was sent", (text: string) => text],
    ["decomposed", (text: string) => text.normalize("NFD")],
    ["composed", (text: string) => text.normalize("NFC")],
    ["without blanks at its ends", (text: string) => text.trim()],
    ["with other line ends", (text: string) => text.replaceAll(/\r?\n/g, "\r\n")],
    ["with a blank at its end", (text: string) => (text.includes(" ") ? `${text} ` : text)],
  ])("%s is the text that was sent", async (_, kept) => {
    declare(blocks, { dialect });
    keeping(kept);
    const first = await reconcile("apply", "-y");
    expect(first.exitCode, said(first)).toBe(0);
    const sent = place.proxy.writes.length;
    const again = await reconcile("plan", "--detailed-exitcode");
    expect([again.exitCode, place.proxy.writes.length], said(again)).toEqual([0, sent]);
  });
});

describe("a volume's name that the service keeps in a form of its own", () => {
  const escaped = (text: string): string => text.replaceAll("\u00e9", "&eacute;");
  const shown = escaped(volume.trim());

  it("replaces nothing by itself, and what is told to do about it ends it", async () => {
    declare({ volumes: blocks.volumes }, { dialect });
    keeping(escaped);
    const made = await reconcile("apply", "-y");
    expect([made.exitCode, said(made)], said(made)).toEqual([
      4,
      expect.stringContaining("write the name as the service"),
    ]);
    const before = place.emulator.dump().volumes;
    const again = await reconcile("apply", "-y");
    expect([again.exitCode, place.emulator.dump().volumes], said(again)).toEqual([3, before]);
    declare({ volumes: { data: { name: shown, size: 5 } } }, { dialect });
    for (const _ of [1, 2]) {
      const ran = await reconcile("apply", "-y");
      expect([ran.exitCode, place.emulator.dump().volumes], said(ran)).toEqual([0, before]);
    }
    expect(place.state().resources["volume.data"]).toMatchObject({ id: before[0]?.id, name: shown });
    expect(place.state().resources["volume.data"].unseen).toBeUndefined();
  });
});

it("a volume's name that the service shows in letters of its own is the name that was sent", async () => {
  declare({ volumes: blocks.volumes }, { dialect });
  keeping((text) => text.toUpperCase());
  for (const _ of [1, 2]) {
    const ran = await reconcile("apply", "-y");
    expect([ran.exitCode, place.emulator.dump().volumes.length], said(ran)).toEqual([0, 1]);
  }
  const again = await reconcile("plan", "--detailed-exitcode");
  expect(again.exitCode, said(again)).toBe(0);
});

describe("what the service keeps in words of its own, told and followed", () => {
  const web = { description: "for everybody", rules: [{ protocol: "tcp", dst_port: 443, remote_ip: "10.0.0.0/8" }] };
  it.each([
    ["description", { ...web, description: "for every" }, (body: string) => body.replace("everybody", "every")],
    [
      "rules",
      { ...web, rules: [{ ...web.rules[0], remote_ip: "10.0.0.0/9" }] },
      (body: string) => body.replace("/8", "/9"),
    ],
  ])("%s", async (key, shown, kept) => {
    place.proxy.meddle(({ body }, forward) => forward(kept(body)));
    for (const ending of [
      { groups: { web: shown } },
      { groups: { web: { ...web, lifecycle: { ignore_changes: [key] } } } },
    ]) {
      declare({ groups: { web } }, { dialect });
      const told = await reconcile("apply", "-y");
      expect([told.exitCode, said(told)]).toEqual([4, expect.stringContaining(`write the ${key} as the service does`)]);
      declare(ending, { dialect });
      for (const _ of [1, 2]) {
        const ran = await reconcile("apply", "-y");
        const named = place.emulator.dump().groups.filter(({ name }) => name === "web");
        expect([ran.exitCode, named.length], said(ran)).toEqual([0, 1]);
      }
    }
  });
});
