export * from "../../reconciler/rehearse/in-process-client";
