import type { Node } from "@memhog/runtime";
import type { Bytes } from "../../model/bytes.ts";
import { memoryIn } from "./amounts.ts";

export interface NodeFacts {
  readonly allocatable: Bytes | undefined;
  /** The minor version of its kubelet, which may be older than the API server; undefined if it does not say. */
  readonly kubeletMinor: number | undefined;
}

export function nodeFacts({ status }: Node): NodeFacts {
  const minor = /^v?1\.(\d+)/.exec(status?.nodeInfo?.kubeletVersion ?? "")?.[1];
  return { allocatable: memoryIn(status?.allocatable), kubeletMinor: minor === undefined ? undefined : Number(minor) };
}
