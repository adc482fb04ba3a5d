import { aNode } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import { nodeFacts } from "./node-facts.ts";

it("of a node its allocatable memory and the version of its kubelet are kept, and no heartbeat", () => {
  const nodeInfo = { kubeletVersion: "v1.36.1" };
  expect(nodeFacts(aNode({ status: { nodeInfo } }))).toEqual({ allocatable: mib(8192), kubeletMinor: 36 });
  expect(nodeFacts(aNode())).toEqual({ allocatable: mib(8192), kubeletMinor: undefined });
});
