/** Where a credential or a state may go, for the service, the stores and the fleet alike. */
import { expect, it } from "vitest";
import { addressFault, isLoopbackHost, withoutUsers } from "../../reconciler/core/text/outside-policy";

it.each([
  ["https://cloud.example", undefined],
  ["https://cloud.example/path", undefined],
  ["http://127.0.0.1:4010", undefined],
  ["http://127.1:4010", undefined],
  ["http://0x7f000001", undefined],
  ["http://[::1]:4010", undefined],
  ["http://localhost", undefined],
  ["http://cloud.example", "in_the_clear"],
  ["http://127.evil.example", "in_the_clear"],
  ["http://localhost.evil.example", "in_the_clear"],
  ["http://[::ffff:127.0.0.1]", "in_the_clear"],
  ["http://0.0.0.0", "in_the_clear"],
  ["http://me:secret@127.0.0.1", "holds_a_credential"],
  ["https://cloud.example?x=1", "has_a_query"],
  ["http://cloud.example?x=1", "in_the_clear"],
  ["ftp://cloud.example", "neither_http_nor_https"],
  ["cloud.example", "no_url"],
])("%s: %s", (address, fault) => {
  expect(addressFault(URL.canParse(address) ? new URL(address) : null, false)).toBe(fault);
});

it("what the user calls safe may go in the clear, and nothing else changes", () => {
  expect(addressFault(new URL("http://cloud.example"), true)).toBeUndefined();
  expect(addressFault(new URL("http://a:b@cloud.example"), true)).toBe("holds_a_credential");
});

it("a host is told with and without the brackets of a URL", () => {
  expect(["::1", "[::1]", "127.8.9.1", "localhost"].map(isLoopbackHost)).toEqual([true, true, true, true]);
  expect(["::2", "127.0.0", "127.0.0.1.example", "LOCALHOST.example"].map(isLoopbackHost)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

it.each([
  ["a user alone", "https://token@host/x of ops@host", "https://***@host/x of ops@host"],
  ["a user with a password", "ssh://git:p@host", "ssh://***@host"],
  ["a password with an @", "at https://u:p@ss@host", "at https://***@host"],
  ["a password with a blank", "at https://u:pa ss@host: no", "at https://***@host: no"],
  ["a password with a slash", "'https://u:pa/ss@host/x.git/': bad", "'https://***@host/x.git/': bad"],
  ["an @ in a path", "https://host/owner@1 and https://host:443/owner@1", undefined],
  ["an address of its own kind", "http://[::1]:4318/a@b", undefined],
  ["several lines", "https://host:\nops@host", undefined],
])("the words of others are shown without %s", (_, text, shown = text) => expect(withoutUsers(text)).toBe(shown));
