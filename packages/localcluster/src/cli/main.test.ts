import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "./main.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lc-"));
});
afterEach(() => rmSync(home, { recursive: true }));

/** Runs a command line and answers with everything a user would see of it. */
async function localcluster(words: string, env: NodeJS.ProcessEnv = {}) {
  const seen = { out: "", err: "" };
  const screen = (name: "out" | "err") => ({
    write(text: string) {
      seen[name] += text;
      return true;
    },
  });
  const terminal = { out: screen("out"), err: screen("err"), env: { PATH: process.env.PATH, LOCALCLUSTER_HOME: home, ...env } };
  return { code: await main(words.split(" ").filter(Boolean), terminal), ...seen };
}

describe("help", () => {
  it.each(["--help", "-h", "help"])("lists the commands on %s", async (words) => {
    const { code, out } = await localcluster(words);
    expect(code).toBe(0);
    for (const command of ["up", "down", "status", "load"]) expect(out).toMatch(new RegExp(`^  ${command} `, "m"));
  });

  it.each(["up", "down", "status", "load"])("says how to use %s", async (command) => {
    const { code, out } = await localcluster(`${command} --help`);
    expect(code).toBe(0);
    expect(out).toMatch(`Usage: localcluster ${command}`);
  });

  it("speaks of itself as it was called", async () => {
    const { out } = await localcluster("up --help", { npm_lifecycle_event: "localcluster" });
    expect(out).toMatch("Usage: npm run localcluster -- up");
  });

  it("fits the width of a terminal of 130 columns", async () => {
    for (const command of ["", "up", "down", "status", "load"]) {
      const { out } = await localcluster(`${command} --help`);
      expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(130);
    }
  });
});

describe("words that mean nothing end with exit code 2 and a line that says why", () => {
  it.each([
    { words: "", says: /Usage: localcluster COMMAND/ },
    { words: "upp", says: /no such command: upp \(there is up, down, status, load\)/ },
    { words: "constructor", says: /no such command: constructor/ },
    { words: "up --node real", says: /unknown option '--node'[\s\S]*localcluster up --help says more/ },
    { words: "up mycluster", says: /unexpected "mycluster"/ },
    { words: "up --nodes two", says: /--nodes: expected none or real or simulated=N, found "two"/ },
    { words: "up --nodes", says: /'--nodes <value>' argument missing/ },
    { words: "up --port http", says: /--port: expected a number from 1 to 65535, found "http"/ },
    { words: "up --output yaml", says: /--output: expected json, found "yaml"/ },
    { words: "up --kubernetes 1.12", says: /unknown Kubernetes version "1.12": expected one of 1\.37/ },
    { words: "up --name Upper", says: /lower-case letters/ },
    { words: "up --prometheus", says: /prometheus: expected nodes: "real" \(--nodes real\)/ },
    { words: "up --nodes simulated=many", says: /--nodes: expected none or real or simulated=N, found "simulated=many"/ },
    { words: "up --simulated --nodes real", says: /nodes: expected simulated=N or none/ },
    { words: "up --simulated --audit", says: /audit: expected a real API server/ },
    { words: "up --simulated --kubernetes 1.36", says: /kubernetes: expected no version/ },
    { words: "up --prometheus=soon --nodes real", says: /prometheus: expected a duration such as 5s/ },
    { words: "down one two", says: /unexpected "two"/ },
    { words: "down one --all", says: /either a name or --all/ },
    { words: "status --all", says: /unknown option '--all'/ },
    { words: "load", says: /expected the path of an image/ },
  ])("$words", async ({ words, says }) => {
    const { code, out, err } = await localcluster(words);
    expect(err).toMatch(says);
    expect(out).toBe("");
    expect(code).toBe(2);
  });
});

describe("what cannot be done ends with exit code 1 and a line that says why", () => {
  it("down of a cluster that is not there", async () => {
    expect(await localcluster("down")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no cluster named default; there are none/),
    });
  });

  it("load of a file that is not there, or into a cluster that is not there", async () => {
    expect(await localcluster(`load ${home}/no.tar`)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/there is no file .*no\.tar/),
    });
    writeFileSync(join(home, "image.tar"), "");
    expect(await localcluster(`load ${home}/image.tar`)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no cluster named default/),
    });
  });

  it("up of something simulated, where nobody says what simulates it", async () => {
    const { code, err } = await localcluster("up --simulated");
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringMatching(/LOCALCLUSTER_SIMULATOR/) });
  });

  it("up with a kubeconfig file that exists: it is somebody's", async () => {
    writeFileSync(join(home, "config"), "mine");
    const { code, err } = await localcluster(`up --kubeconfig ${home}/config`);
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringMatching(/config exists already, and is not overwritten/) });
  });
});

describe("with no cluster at all", () => {
  it("status says how to start one", async () => {
    expect(await localcluster("status")).toMatchObject({ code: 0, out: "no clusters; localcluster up starts one\n" });
    expect(await localcluster("status --output json")).toMatchObject({ code: 0, out: "[]\n" });
  });

  it("down --all has nothing to do", async () => {
    expect(await localcluster("down --all")).toMatchObject({ code: 0, out: "there was nothing to take down\n" });
  });
});
