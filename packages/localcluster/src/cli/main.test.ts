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

/** Runs a command and returns what the user sees. */
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

  it.each(["up", "down", "status", "load"])("describes how to use %s", async (command) => {
    const { code, out } = await localcluster(`${command} --help`);
    expect(code).toBe(0);
    expect(out).toMatch(`Usage: localcluster ${command}`);
  });

  it("names the program as the user called it", async () => {
    const { out } = await localcluster("up --help", { npm_lifecycle_event: "localcluster" });
    expect(out).toMatch("Usage: npm run localcluster -- up");
  });

  it("prints the version", async () => {
    expect(await localcluster("--version")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^localcluster \d+\.\d+\.\d+\n$/),
    });
  });

  it("fits the width of a terminal of 130 columns", async () => {
    for (const command of ["", "up", "down", "status", "load"]) {
      const { out } = await localcluster(`${command} --help`);
      expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(130);
    }
  });
});

describe("invalid arguments give exit code 2 and a message", () => {
  it.each([
    { words: "", says: /Usage: localcluster COMMAND/ },
    { words: "upp", says: /unknown command "upp": expected one of up, down, status, load/ },
    { words: "constructor", says: /unknown command "constructor"/ },
    { words: "up --node real", says: /unknown option '--node'[\s\S]*Run `localcluster up --help` for usage/ },
    { words: "up mycluster", says: /unexpected argument "mycluster"/ },
    { words: "up --nodes two", says: /--nodes: expected none or real or simulated=N, found "two"/ },
    { words: "up --nodes", says: /'--nodes <value>' argument missing/ },
    { words: "up --port http", says: /--port: expected a number from 1 to 65535, found "http"/ },
    { words: "up --port 0", says: /--port: expected a number from 1 to 65535, found "0"/ },
    { words: "up --port 65536", says: /--port: expected a number from 1 to 65535, found "65536"/ },
    { words: "up --kubeconfig=", says: /--kubeconfig: expected a value/ },
    { words: "--version please", says: /unexpected argument "please"/ },
    { words: "up --output yaml", says: /--output: expected json, found "yaml"/ },
    { words: "up --kubernetes 1.12", says: /unknown Kubernetes version "1.12": expected one of 1\.37/ },
    { words: "up --name Upper", says: /lowercase letters/ },
    { words: "up --prometheus", says: /prometheus: expected nodes to scrape/ },
    { words: "up --nodes simulated=many", says: /--nodes: expected none or real or simulated=N, found "simulated=many"/ },
    { words: "up --simulated --nodes real", says: /nodes: expected simulated=N or none/ },
    { words: "up --simulated --audit", says: /audit: expected no audit log/ },
    { words: "up --simulated --kubernetes 1.36", says: /kubernetes: expected no version/ },
    { words: "up --prometheus=soon --nodes real", says: /prometheus: expected a duration such as 5s/ },
    { words: "down one two", says: /unexpected argument "two"/ },
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

describe("failures give exit code 1 and a message", () => {
  it("down of a cluster that does not exist", async () => {
    expect(await localcluster("down")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no cluster named default; found none/),
    });
  });

  it("load of a missing file, or into a missing cluster", async () => {
    expect(await localcluster(`load ${home}/no.tar`)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no such file: .*no\.tar/),
    });
    writeFileSync(join(home, "image.tar"), "");
    expect(await localcluster(`load ${home}/image.tar`)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no cluster named default/),
    });
  });

  it("up --simulated without a simulator", async () => {
    const { code, err } = await localcluster("up --simulated");
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringMatching(/LOCALCLUSTER_SIMULATOR/) });
  });

  it("up with an existing kubeconfig file", async () => {
    writeFileSync(join(home, "config"), "mine");
    const { code, err } = await localcluster(`up --kubeconfig ${home}/config`);
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringMatching(/config exists and is not overwritten/) });
  });
});

describe("without any cluster", () => {
  it("status says how to start one", async () => {
    expect(await localcluster("status")).toMatchObject({ code: 0, out: "no clusters; start one with: localcluster up\n" });
    expect(await localcluster("status --output json")).toMatchObject({ code: 0, out: "[]\n" });
  });

  it("down --all has nothing to do", async () => {
    expect(await localcluster("down --all")).toMatchObject({ code: 0, out: "no clusters to remove\n" });
  });
});
