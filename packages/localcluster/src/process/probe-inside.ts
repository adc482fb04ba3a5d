// node probe-inside.ts PORT PATH: ends with 0 once https://127.0.0.1:PORT/PATH answers 200, or when stdin is closed: whoever
// asked has lost interest, or is dead.
import { get } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";

const [port, path] = process.argv.slice(2);
process.stdin.on("end", () => process.exit(1)).resume();

while (!(await isWell())) await sleep(50);
process.exit(0);

function isWell(): Promise<boolean> {
  return new Promise((done) => {
    // Whose certificate it is does not matter: what we ask for is not a secret, and the answer is one bit.
    const options = { host: "127.0.0.1", port: Number(port), path: path ?? "/", rejectUnauthorized: false, timeout: 5_000 };
    const call = get(options, (response) => {
      response.resume();
      done(response.statusCode === 200);
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => done(false));
  });
}
