// The entry point of the command line. Streams and environment are passed in, so that cli/ can be tested without a process.
import { main } from "./cli/main.ts";

process.exitCode = await main(process.argv.slice(2), { out: process.stdout, err: process.stderr, env: process.env });
