import { describe, expect, it } from "vitest";
import { ComponentFailedError } from "../errors.ts";
import { askForCluster, shareClusters } from "./shared.ts";

describe("workers that share clusters", () => {
  it("get the same one, started once, however many ask at once", async () => {
    const started: string[] = [];
    await using sharing = await shareClusters(async (nodes) => {
      started.push(nodes);
      return { name: `cluster-${nodes}`, root: "/state" };
    });
    const answers = await Promise.all(
      ["none", "none", "real", "none"].map((nodes) => askForCluster(sharing.socket, nodes as "none")),
    );
    expect(answers.map(({ name }) => name)).toEqual(["cluster-none", "cluster-none", "cluster-real", "cluster-none"]);
    expect(started.sort()).toEqual(["none", "real"]);
  });

  it("start nothing that nobody asks for", async () => {
    await using _sharing = await shareClusters(() => Promise.reject(new Error("not asked for")));
  });

  it("all hear why it could not be started, from one attempt", async () => {
    let attempts = 0;
    await using sharing = await shareClusters(async () => {
      attempts += 1;
      throw new ComponentFailedError("etcd", "ended", { logFile: "/logs/etcd.log" });
    });
    for (let i = 0; i < 2; i += 1)
      await expect(askForCluster(sharing.socket, "none")).rejects.toMatchObject({
        ...{ code: "COMPONENT_FAILED", message: expect.stringContaining("/logs/etcd.log") },
      });
    expect(attempts).toBe(1);
  });

  it("are told which project they belong to, if they do not", async () => {
    await expect((async () => askForCluster(undefined, "none"))()).rejects.toThrow(/project "real"/);
  });
});
