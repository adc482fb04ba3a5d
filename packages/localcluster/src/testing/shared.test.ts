import { describe, expect, it } from "vitest";
import { ComponentFailedError } from "../errors.ts";
import { requestCluster, shareClusters } from "./shared.ts";

describe("workers that share clusters", () => {
  it("get the same cluster, started once", async () => {
    const started: string[] = [];
    await using sharing = await shareClusters(async (nodes) => {
      started.push(nodes);
      return { name: `cluster-${nodes}`, root: "/state" };
    });
    const answers = await Promise.all(
      ["none", "none", "real", "none"].map((nodes) => requestCluster(sharing.socket, nodes as "none")),
    );
    expect(answers.map(({ name }) => name)).toEqual(["cluster-none", "cluster-none", "cluster-real", "cluster-none"]);
    expect(started.sort()).toEqual(["none", "real"]);
  });

  it("start no cluster without a request", async () => {
    await using _sharing = await shareClusters(() => Promise.reject(new Error("not asked for")));
  });

  it("all get the error of the one failed start", async () => {
    let attempts = 0;
    await using sharing = await shareClusters(async () => {
      attempts += 1;
      throw new ComponentFailedError("etcd", "ended", { logFile: "/logs/etcd.log" });
    });
    for (let i = 0; i < 2; i += 1)
      await expect(requestCluster(sharing.socket, "none")).rejects.toMatchObject({
        ...{ code: "COMPONENT_FAILED", message: expect.stringContaining("/logs/etcd.log") },
      });
    expect(attempts).toBe(1);
  });

  it('outside the project "real" get an error that names it', async () => {
    await expect((async () => requestCluster(undefined, "none"))()).rejects.toThrow(/project "real"/);
  });
});
