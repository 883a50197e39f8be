import { describe, expect, it } from "vitest";
import { type ActiveFault, FaultProblem, parseFault, takeFaults } from "../../emulator/faults";
import { readArguments } from "../../emulator/main";

const active = (text: string): ActiveFault => ({ spec: parseFault(text), seen: 0, hit: 0 });

describe("reading a fault", () => {
  it("takes every field", () => {
    expect(parseFault("operation=vm.create,kind=status,code=429,retry_after=3,count=2,skip=1,when=after")).toEqual({
      operation: "vm.create",
      kind: "status",
      code: 429,
      retry_after: 3,
      count: 2,
      skip: 1,
      when: "after",
    });
  });

  it("concerns every operation when it names none", () => {
    expect(parseFault("kind=drop-before")).toEqual({ operation: "*", kind: "drop-before" });
  });

  it("names everything that is wrong, at once", () => {
    const problems = (() => {
      try {
        parseFault("operation=vm.crate,kind=boom,count=x,what=1,when=now,when=then");
      } catch (error) {
        return (error as FaultProblem).problems.join("\n");
      }
      return "";
    })();
    for (const word of ["vm.crate", "boom", "count", "what", "when must be", "when is given twice"])
      expect(problems).toContain(word);
  });

  it.each(["kind=status", "kind=latency", "kind=stale-list", "kind=status,code=200", "", "kind=constructor"])(
    "refuses %o",
    (text) => {
      expect(() => parseFault(text)).toThrow(FaultProblem);
    },
  );
});

describe("taking faults", () => {
  const hits = (text: string, ...requests: string[]) => {
    const faults = [active(text)];
    return requests.map((operation) => takeFaults(faults, operation).length);
  };
  it("lets the first ones pass and stops after the count", () => {
    expect(hits("kind=drop-before,skip=1,count=2", "vm.list", "vm.list", "vm.list", "vm.list")).toEqual([0, 1, 1, 0]);
  });
  it("counts only what it concerns", () => {
    expect(hits("operation=vm.create,kind=drop-after,count=1", "vm.list", "vm.create", "vm.create")).toEqual([0, 1, 0]);
  });
  it("tells reads from writes", () => {
    expect(hits("operation=read,kind=html", "vm.list", "vm.create", "unknown")).toEqual([1, 0, 0]);
    expect(hits("operation=write,kind=html", "vm.list", "vm.create", "volume.delete")).toEqual([0, 1, 1]);
  });
});

describe("the program's arguments", () => {
  it("become options", () => {
    const argv = [
      "--port",
      "0",
      "--time-scale",
      "60",
      "--contract-only",
      "--with",
      "vm.get,group.get",
      "--with",
      "volume.list",
      "--without=vm.list",
    ];
    expect(readArguments(argv)).toEqual({
      problems: [],
      options: {
        port: 0,
        timeScale: 60,
        contractOnly: true,
        with: ["vm.get", "group.get", "volume.list"],
        without: ["vm.list"],
      },
    });
  });

  it("are all checked before anything starts", () => {
    const argv = [
      "--dir=",
      "--host",
      "0.0.0.0",
      "--port",
      "x",
      "--with",
      "vm.fly",
      "--fault",
      "kind=boom",
      "--page-size",
      "0",
      "--port-range",
      "-",
    ];
    expect([["--nosuch"], ["--port"], ["--strict=1"]].map((one) => readArguments(one).problems)).toEqual([
      ["there is no flag --nosuch; reconcile help emulator lists those there are"],
      ["--port needs a value"],
      ["--strict takes no value"],
    ]);
    const { problems } = readArguments(argv);
    for (const word of [
      "folder needs a name",
      "loopback",
      "--port must be",
      "vm.fly",
      "kind=boom",
      "page size",
      "port range",
    ])
      expect(problems.join("\n")).toContain(word);
  });
});
