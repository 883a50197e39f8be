/** What is lost for good when something is deleted, replaced or wiped: by id and size, so that a consent can name it. */
export interface Loss {
  readonly disk: "root" | "volume";
  /** The id of the VM whose root disk is lost, or of the volume. Absent: the service has not told it. */
  readonly id?: string;
  readonly sizeGb?: number;
  /** One sentence for people. */
  readonly detail: string;
}

const label = (name: string, id: string | undefined): string =>
  id === undefined || id === name ? name : `${name} (${id})`;

const ofSize = (sizeGb: number | undefined): string => (sizeGb === undefined ? "" : ` of ${sizeGb} GB`);

export const rootDiskLoss = (
  vm: { readonly id?: string | undefined; readonly name: string; readonly sizeGb?: number | undefined },
  fate: "is deleted with it" | "is wiped by the rebuild",
): Loss => ({
  disk: "root",
  id: vm.id,
  sizeGb: vm.sizeGb,
  detail: `the root disk${ofSize(vm.sizeGb)} of VM ${label(vm.name, vm.id)} ${fate}`,
});

export const volumeLoss = (
  volume: { readonly id?: string | undefined; readonly sizeGb?: number | undefined },
  detail: string,
): Loss => ({ disk: "volume", id: volume.id, sizeGb: volume.sizeGb, detail });

/** `data (0d3c…) of 20 GB`. */
export const volumeLabel = (volume: {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly sizeGb?: number | undefined;
}): string => `${label(volume.name ?? volume.id ?? "", volume.id)}${ofSize(volume.sizeGb)}`;
