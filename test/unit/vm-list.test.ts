import { expect, it } from "vitest";
import { vmListText } from "../../reconciler/report/vm-list";

const row = {
  ...{ address: "vm.web", id: "vm-1", name: "web", status: "ACTIVE", private_ip: "10.0.0.3", floating_ip: null },
  flavor: "flavor-1",
} as const;

it("shows a flavor by its name, and by its id where the service lists none of that id", () => {
  const text = vmListText(
    [row, { ...row, address: null, id: "vm-2", flavor: "flavor-2" }],
    new Map([["flavor-1", "m1.small"]]),
  );
  expect(text.split("\n")[1]).toMatch(/vm\.web +web +ACTIVE +m1\.small +10\.0\.0\.3 +vm-1/);
  expect(text.split("\n")[2]).toMatch(/web +ACTIVE +flavor-2 +10\.0\.0\.3 +vm-2/);
  expect(text).toContain("2 VMs; 1 not managed here.");
});
