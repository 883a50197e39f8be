/** What the doctor asks at a terminal, and what becomes of the answers. */
import { expect, test } from "vitest";
import { askOpen, mostQuestions, questionOf, questionsAfter } from "../../reconciler/cli/doctor/questions";
import { readTold, withTold } from "../../reconciler/cli/doctor/told";
import type { AssumedOperation } from "../../reconciler/core/model/operation";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import type { OperationFinding } from "../../reconciler/engine/doctor/report";

const missing = (operation: AssumedOperation, more: Partial<OperationFinding> = {}): OperationFinding => ({
  operation,
  verdict: "missing",
  route: null,
  tried: [],
  ...more,
});

const all: readonly AssumedOperation[] = [
  "vm.list",
  "volume.list",
  "group.list",
  "volume.delete",
  "vm.resize.confirm",
  "vm.resize.revert",
  "group.rule.delete",
];

const credential = "accepted";

test("four questions are the most, lists come first, and what was told is not asked", () => {
  const operations = all.map((operation) => missing(operation));
  const first = questionsAfter("looked", { operations, credential }, new Set());
  expect(first.map(([operation]) => operation)).toEqual(["vm.list", "volume.list", "group.list"]);
  const second = questionsAfter("tried", { operations, credential }, new Set(first.map(([operation]) => operation)));
  expect(second.map(([operation]) => operation)).toEqual(["volume.delete"]);
  expect(first.length + second.length).toBe(mostQuestions);
  const after = questionsAfter("looked", { operations, credential }, new Set(["vm.list"]));
  expect(after.map(([operation]) => operation)).toEqual(["volume.list", "group.list"]);
  const told = [
    missing("vm.list", { isSaid: true }),
    missing("volume.list", { verdict: "found" }),
    missing("group.list"),
  ];
  expect(questionsAfter("looked", { operations: told, credential }, new Set()).map(([operation]) => operation)).toEqual(
    ["group.list"],
  );
});

test("of a service that lets nobody in, one request that it takes is asked for", () => {
  const shut = { operations: [], credential: "refused" } as const;
  expect(questionsAfter("looked", shut, new Set()).map(([operation]) => operation)).toEqual(["vm.list"]);
  expect(questionsAfter("looked", shut, new Set(["vm.list"]))).toEqual([]);
  expect(questionsAfter("looked", { ...shut, credential: "unknown" }, new Set())).toEqual([]);
});

test("a command, none, nothing, and a terminal that is left", async () => {
  const answers = ["curl -X GET \\", "https://x.example/vms", "none", "", undefined, "curl never"];
  const asked: string[] = [];
  const { told, isAnswered, isOver } = await askOpen(
    [
      ...questionsAfter("looked", { operations: all.map((one) => missing(one)), credential }, new Set()),
      ["volume.delete", "deletes a volume"],
    ],
    { samples: new Map(), commands: [], none: [] },
    async (question) => {
      asked.push(question);
      return answers[asked.length - 1];
    },
  );
  expect([isAnswered, isOver]).toEqual([true, true]);
  expect(told.commands).toEqual([["vm.list", "curl -X GET  https://x.example/vms"]]);
  expect(told.none).toEqual(["volume.list"]);
  expect(asked).toHaveLength(5);
});

const noId = "curl -X POST https://x.example/vms/web/confirm";

test.each([noId, "curl -X POST https://x.example/vms/{id}?token=x", "curl -d @f https://x.example/vms/{id}"])(
  "a request that cannot be sent as it was told is asked for again, and else is not taken: %s",
  async (first) => {
    const again = noId.replace("web", "{id}");
    for (const [second, commands] of [
      [again, [["vm.resize.confirm", again]]],
      ["", []],
      [first, []],
    ] as const) {
      const answers = [first, second];
      const { told } = await askOpen(
        [["vm.resize.confirm", "confirms a resize"]],
        { samples: new Map(), commands: [], none: [] },
        async () => answers.shift(),
      );
      expect(told.commands).toEqual(commands);
    }
  },
);

test("a request that is told as a flag is refused where nothing in it looks like an id", () => {
  const told = readTold({ curl: [`vm.resize.confirm=${noId}`] });
  expect(() => withTold(readDialectText("", "").dialect, told, "https://x.example", new Set())).toThrow("like an id");
});

test("a header goes with every request, unless it says what is listed, is of a write, or is of some requests alone", () => {
  const [vms, disks] = ["vm.list=curl https://x.example/vms", "volume.list=curl https://x.example/disks"];
  const remove = "volume.delete=curl -X DELETE https://x.example/disks/{id}";
  const tenant = " -H 'X-Tenant: t-77'";
  for (const [commands, always] of [
    [[vms + tenant], { "X-Tenant": "t-77" }],
    [[`${vms} -H 'X-Action: DescribeServers'`], {}],
    [[remove + tenant], {}],
    [[vms + tenant, disks + tenant, remove + tenant], { "X-Tenant": "t-77" }],
    [[vms + tenant, disks], {}],
  ] as const) {
    const told = readTold({ curl: [...commands] });
    const { start } = withTold(readDialectText("", "").dialect, told, "https://x.example", new Set());
    expect(start.headers).toEqual(always);
  }
});

test("in a trial one is asked for when it is needed, once, and while there may be one more", () => {
  expect(questionOf("volume.delete", new Set(["vm.list"]))).toEqual([["volume.delete", "deletes a volume"]]);
  expect(questionOf("volume.delete", new Set(["volume.delete"]))).toEqual([]);
  expect(questionOf("volume.delete", new Set(all.filter((one) => one !== "volume.delete").slice(0, 4)))).toEqual([]);
});
