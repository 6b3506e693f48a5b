#!/usr/bin/env python3
"""Issues signed stream keys for a Tandem room (`ingest.auth` with "type": "hmac"). Needs only the standard library; copy it.

    from signed_key import stream_key
    key = stream_key(secret, room="88231", source="1001", expires=int(time.time()) + 3600)
    print(f"rtmp://live.example.com/live/{key}")

As a program, it prints a key. The secret comes from a variable, never from the command line, which other users can see. If the variable has
several lines, the first one signs, as in `tandem sign-key`:

    SIGNING=… python3 signed_key.py 88231 1001 3600
    python3 signed_key.py --vectors vectors.json    # compares this code with the test vectors
"""
import base64, hashlib, hmac, json, os, secrets, sys, time
from urllib.parse import quote


def stream_key(secret: str, room: str, source: str, expires: int, nonce: str = "") -> str:
    """The stream key that a publisher of the source enters: NAME?e=EXPIRY&n=NONCE&s=SIGNATURE.

    secret is one secret, without a line break. source is the uid as in the pipeline file, or uid/streamType; it is percent-encoded in the key
    and in the signed text. expires is Unix time in seconds. nonce makes the key unique (default: 128 random bits); letters, digits and - . _ ~
    only, since the publisher's address contains it.
    """
    nonce = nonce or secrets.token_urlsafe(16)
    if not secret or len(secret.splitlines()) > 1: raise ValueError("give one secret: the first line of the file or variable")
    if not 0 <= expires < 10**12: raise ValueError("expires: give Unix time in seconds")
    if len(nonce) > 64 or quote(nonce, safe="") != nonce: raise ValueError("nonce: letters, digits and - . _ ~, at most 64")
    name = quote(source, safe="/")
    text = f"rtmp1|{room}|{name}|{expires}|{nonce}"
    digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
    return f"{name}?e={expires}&n={nonce}&s={base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def check(path: str) -> int:
    """Compares with the test vectors; returns the number of those that differ."""
    with open(path, encoding="utf-8") as file: vectors = json.load(file)["issued"]
    wrong = 0
    for each in vectors:
        key = stream_key(each["secret"], each["room"], each["source"], each["expires"], each["nonce"])
        if key != each["streamKey"]:
            print(f"{each['title']}: {key}, not {each['streamKey']}", file=sys.stderr)
            wrong += 1
    print(f"{len(vectors) - wrong} of {len(vectors)} vectors agree")
    return wrong or not vectors


if __name__ == "__main__":
    if sys.argv[1:2] == ["--vectors"]: sys.exit(1 if check(sys.argv[2]) else 0)
    room, source, seconds = sys.argv[1:]
    lines = [line for line in os.environ["SIGNING"].splitlines() if line]
    if not lines: sys.exit("SIGNING is empty")
    print(stream_key(lines[0], room, source, int(time.time()) + int(seconds)))
