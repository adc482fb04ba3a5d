// Parts of pods for tests of what is kept of them.
import type { Pod, Stored } from "@memhog/runtime";
import { aPod, type DeepPartial } from "@memhog/runtime/testing";
import { monitorAnnotation } from "../api/names.ts";

export const memory = (request: string, limit = request) => ({ requests: { memory: request }, limits: { memory: limit } });

export const container = (name: string, request: string, more: object = {}) => ({ name, resources: memory(request), ...more });

/** What makes one of an init container. */
export const sidecar = { restartPolicy: "Always" } as const;

/** A pod that asks for us. */
export const annotated = (more: DeepPartial<Pod> = {}, annotations: object = {}): Stored<Pod> =>
  aPod({ ...more, metadata: { ...more.metadata, annotations: { [monitorAnnotation]: "true", ...annotations } } });
