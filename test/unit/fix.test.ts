/** What a fix is told as, and that the commands in it are ours. */
import { describe, expect, it } from "vitest";
import { commands } from "../../reconciler/cli/registry";
import { movedText } from "../../reconciler/core/model/address";
import { adviceInProgram, type Command, fixText, toAsk, toRun, toWrite } from "../../reconciler/core/model/fix";

/** One of each: what compiles as a command of a fix is in the registry, with its flags. */
const each: { readonly [Name in Command[0]]: readonly Extract<Command, readonly [Name, ...unknown[]]>[] } = {
  import: [["import", "vm.db", "ID"]],
  "state rm": [["state rm", "vm.db"]],
  "state mv": [["state mv", "vm.db", "vm.app"]],
  "state resolve": (["--not-created", "--confirmed", "--reverted", "--attached", "--detached", "--paid"] as const).map(
    (answer) => ["state resolve", "vm.db", answer] as const,
  ),
  "orphans list": [["orphans list"]],
  "orphans delete": [["orphans delete", "ID"]],
  owe: [["owe", "vm.db"]],
  init: [["init"]],
  doctor: [["doctor"], ["doctor", "--out", "FILE"]],
  show: [["show", "change.plan.json"]],
  apply: [["apply"], ["apply", "--recreate", "vm.db"], ["apply", "--replace", "vm.db"], ["apply", "--accept-service"]],
};

describe("a fix", () => {
  it.each(Object.entries(each))("%s is a command of ours, with the flags it is given", (name, all) => {
    const definition = commands[name]?.();
    for (const words of all)
      for (const flag of words.filter((word) => word.startsWith("--")))
        expect(definition?.flags).toContain(flag.slice(2));
    expect(definition).toBeDefined();
  });

  it("is told as a choice of commands, lines and sentences", () => {
    expect(
      fixText(
        toRun(["import", "vm.db", "ID"], "it exists"),
        toRun(["state rm", "vm.db"]),
        toWrite('imports: [ { to: vm.db, id: "1" } ]'),
        toAsk("another name"),
      ),
    ).toBe(
      'reconcile import vm.db ID (it exists), or reconcile state rm vm.db, or imports: [ { to: vm.db, id: "1" } ], or another name',
    );
    // zsh takes a bare bracket for a pattern.
    expect(fixText(toRun(["apply", "--replace", "vm.web[a]"]))).toBe("reconcile apply --replace 'vm.web[a]'");
    // What a file or a service calls something may hold whatever a shell or YAML obeys.
    expect(fixText(toRun(["import", "vm.web[it's]", "a b;$(id)"]))).toBe(
      "reconcile import 'vm.web[it'\\''s]' 'a b;$(id)'",
    );
    expect(fixText(toRun(["state rm", "journal line 5"]))).toBe("reconcile state rm 'journal line 5'");
    expect(adviceInProgram([toRun(["import", "vm.db", 'a"b'])])).toBe('adopt: "a\\"b"');
    expect(movedText({ from: "vm.web", to: 'vm.web[a"\\b]' })).toBe(
      'moved: [ { from: vm.web, to: "vm.web[a\\"\\\\b]" } ]',
    );
    expect(fixText(toWrite("moved: []", "keeps it"))).toBe("moved: []   keeps it");
  });
});
