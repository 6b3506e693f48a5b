// Issues signed stream keys for a Tandem room (`ingest.auth` with "type": "hmac"). Needs only Node's own modules; copy it.
//
//     import { streamKey } from "./signed-key.ts";
//     const key = streamKey({ secret, room: "88231", source: "1001", expires: Math.floor(Date.now() / 1000) + 3600 });
//     console.log(`rtmp://live.example.com/live/${key}`);
//
// As a program, it prints a key. The secret comes from a variable, never from the command line, which other users can see. If the variable has
// several lines, the first one signs, as in `tandem sign-key`:
//
//     SIGNING=… node signed-key.ts 88231 1001 3600
//     node signed-key.ts --vectors vectors.json    # compares this code with the test vectors
//
// All types are inferred, so the file is valid TypeScript (`tsc --strict`) and, unchanged, valid JavaScript. Node 22.18 and later run it as
// it is; for older versions of Node copy it to signed-key.mjs.
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

/** Percent-encodes everything except letters, digits, `-`, `.`, `_`, `~` and the slash before a stream type. */
function encoded(text = "") {
  const bytes = [...new TextEncoder().encode(text)];
  return bytes.map((byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9\-._~/]/.test(character) ? character : "%" + byte.toString(16).toUpperCase().padStart(2, "0");
  }).join("");
}

/**
 * The stream key that a publisher of the source enters: NAME?e=EXPIRY&n=NONCE&s=SIGNATURE.
 *
 * All members but `nonce` are required. `secret` is one secret, without a line break. `source` is the uid as in the pipeline file, or
 * uid/streamType; it is percent-encoded in the key and in the signed text. `expires` is Unix time in seconds.
 * `nonce` makes the key unique (default: 128 random bits); letters, digits and - . _ ~ only, since the publisher's address contains it.
 */
export function streamKey({ secret = "", room = "", source = "", expires = NaN, nonce = randomBytes(16).toString("base64url") }) {
  if (!secret || !room || !source) throw new TypeError("secret, room and source must not be empty");
  if (/[\r\n]/.test(secret)) throw new TypeError("give one secret: the first line of the file or variable");
  if (!Number.isSafeInteger(expires) || expires < 0 || expires >= 1e12) throw new RangeError("expires: give Unix time in seconds");
  if (!/^[A-Za-z0-9\-._~]{1,64}$/.test(nonce)) throw new RangeError("nonce: letters, digits and - . _ ~, at most 64");
  const name = encoded(source);
  const signature = createHmac("sha256", secret).update(`rtmp1|${room}|${name}|${expires}|${nonce}`).digest("base64url");
  return `${name}?e=${expires}&n=${nonce}&s=${signature}`;
}

/** Compares with the test vectors; returns the number of those that differ. */
function check(path = "") {
  const vectors = JSON.parse(readFileSync(path, "utf8")).issued;
  let wrong = 0;
  for (const each of vectors) {
    const key = streamKey(each);
    if (key === each.streamKey) continue;
    console.error(`${each.title}: ${key}, not ${each.streamKey}`);
    wrong += 1;
  }
  console.log(`${vectors.length - wrong} of ${vectors.length} vectors agree`);
  return vectors.length === 0 ? 1 : wrong;
}

// Only as a program, not when another module imports it.
const [, program, ...words] = process.argv;
if (program && /signed-key\.\w+$/.test(program)) {
  if (words[0] === "--vectors") {
    process.exitCode = check(words[1]) === 0 ? 0 : 1;
  } else {
    const [room, source, seconds] = words;
    const expires = Math.floor(Date.now() / 1000) + Number(seconds);
    const secret = (process.env.SIGNING ?? "").split(/\r\n|\r|\n/).find((line) => line !== "");
    console.log(streamKey({ secret, room, source, expires }));
  }
}
