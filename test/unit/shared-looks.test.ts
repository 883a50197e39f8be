/** Lists that many handlers share: one that is to prove an absence is another than one that was read for less. */
import { expect, it } from "vitest";
import { accepted } from "../../reconciler/core/model/outcome";
import { shareLooks } from "../../reconciler/one/shared-looks";
import type { ServiceClient } from "../../reconciler/service/client";

it("a list that proves is asked for as such beside one that does not", async () => {
  const asked: unknown[] = [];
  const client = {
    listVms: async (options?: unknown) => {
      asked.push(options);
      return accepted([]);
    },
  } as unknown as ServiceClient;
  const { fresh } = shareLooks(client);
  await Promise.all([fresh.listVms(), fresh.listVms({ proves: true })]);
  expect(asked).toEqual([undefined, { proves: true }]);
});
