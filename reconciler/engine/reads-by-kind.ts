/** The reads of the service that every kind has, for whoever asks the same of each. */
import type { Kind } from "../core/model/kinds";
import type { LiveOf } from "../core/model/live";
import type { Outcome } from "../core/model/outcome";
import type { RequestOptions, ServiceClient } from "../service/client";

type List<L> = (client: ServiceClient, options?: RequestOptions) => Promise<Outcome<readonly L[]>>;
type Read<L> = (client: ServiceClient, id: string, options?: RequestOptions) => Promise<Outcome<L>>;

export const listOfKind: { readonly [K in Kind]: List<LiveOf[K]> } = {
  vm: (client, options) => client.listVms(options),
  volume: (client, options) => client.listVolumes(options),
  group: (client, options) => client.listGroups(options),
};

export const readOfKind: { readonly [K in Kind]: Read<LiveOf[K]> } = {
  vm: (client, id, options) => client.getVm(id, options),
  volume: (client, id, options) => client.getVolume(id, options),
  group: (client, id, options) => client.getGroup(id, options),
};
