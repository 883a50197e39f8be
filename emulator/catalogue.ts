/** The lists of what a VM is made from: flavors, images (with the project's own snapshots) and regions. */
import type { Reply, Request } from "./decision";
import { pageOfCatalogue } from "./paging";

export const listFlavors = (request: Request): Reply =>
  pageOfCatalogue(
    request,
    [...request.world.tables.flavor.values()].map(({ id, name, vcpus, ram_gb }) => ({ id, name, vcpus, ram_gb })),
  );

export const listImages = (request: Request): Reply =>
  pageOfCatalogue(
    request,
    [...request.world.tables.image.values()]
      .filter((image) => image.project_id === null || image.project_id === request.caller.projectId)
      .map(({ id, name, created_at }) => ({ id, name, created_at })),
  );

export const listRegions = (request: Request): Reply =>
  pageOfCatalogue(
    request,
    [...request.world.tables.region.values()].map(({ id, name }) => ({ id, name })),
  );
