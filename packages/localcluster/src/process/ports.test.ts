import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { ComponentFailedError } from "../errors.ts";
import { freePort, mustBeFree, withFreePort } from "./ports.ts";

const taken = () =>
  new ComponentFailedError("kube-apiserver", "ended", { logFile: "x.log", log: "bind: address already in use" });

describe("ports", () => {
  it("finds one that can be listened on", async () => {
    const server = createServer().listen(await freePort(), "127.0.0.1");
    await once(server, "listening");
    server.close();
  });

  it("says who has a port that the user asked for", async () => {
    const port = await freePort();
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    await expect(mustBeFree(port)).rejects.toMatchObject({ code: "PORT_TAKEN" });
    await expect(mustBeFree(port)).rejects.toThrow(`port ${port}: in use by process ${process.pid}`);
    server.close();
  });

  it.each([0, -1, 65_536, 1.5, Number.NaN])("refuses %d, which is no port", async (port) => {
    await expect(mustBeFree(port)).rejects.toThrow(/number from 1 to 65535/);
  });

  it("takes another one when somebody was quicker", async () => {
    const tried: number[] = [];
    const got = await withFreePort(async (port) => {
      tried.push(port);
      if (tried.length < 3) throw taken();
      return port;
    });
    expect(tried).toHaveLength(3);
    expect(got).toBe(tried[2]);
  });

  it("gives up after a few, and at once for any other reason", async () => {
    let tries = 0;
    const fail = (error: Error) => async () => {
      tries += 1;
      throw error;
    };
    await expect(withFreePort(fail(taken()), 2)).rejects.toMatchObject({ code: "COMPONENT_FAILED" });
    await expect(withFreePort(fail(new Error("no such file")))).rejects.toThrow("no such file");
    expect(tries).toBe(3);
  });
});
