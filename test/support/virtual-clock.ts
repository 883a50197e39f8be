export * from "../../reconciler/rehearse/virtual-clock";
