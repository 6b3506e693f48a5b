"""Receives webhooks and a service's notifications: receiver.py SECRET NOTIFY_SOCKET REFUSE_FILE [PORT [SECONDS]]

Prints the port it listens on, then a line for each accepted event (its number and types) and each notification. Each webhook is
answered after SECONDS (0), with 503 while REFUSE_FILE exists. A wrong signature (Standard Webhooks) ends the program."""
import base64, hashlib, hmac, http.server, json, os, socket, sys, threading, time

secret, path, refuse = base64.b64decode(sys.argv[1].removeprefix("whsec_")), sys.argv[2], sys.argv[3]
port, seconds = int((sys.argv[4:] or [0])[0]), float((sys.argv[5:] or [0])[0])

# One write a line: print's own two let lines of two threads run into one another.
def say(*words): os.write(1, (" ".join(map(str, words)) + "\n").encode())

class Hook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        signed = f'{self.headers["webhook-id"]}.{self.headers["webhook-timestamp"]}.'.encode() + body
        expected = "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
        if self.headers["webhook-signature"] != expected:
            say("wrong signature")
            os._exit(1)
        time.sleep(seconds)
        status = 503 if os.path.exists(refuse) else 204
        event = json.loads(body)
        if status == 204: say("event", int(event["sequence"]), event["data"]["type"], event["type"])
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

def notifications():
    inbox = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    inbox.bind("\0" + path[1:] if path.startswith("@") else path)
    while True:
        for line in inbox.recv(4096).decode().splitlines(): say("notify", line)

threading.Thread(target=notifications, daemon=True).start()
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Hook)
server.daemon_threads = True
say(server.server_port)
server.serve_forever()
