"""An S3 service that checks signatures, with a bucket `rooms`: bucket.py moto|swift|rclone DIRECTORY

Prints its URL, region, access key and secret key. For every input line, which names a directory, it prints as JSON the objects of
the bucket, whether each equals the file of the same name in that directory (null: there is no such file), and the text of the
playlists. Objects that are deleted meanwhile are left out. DIRECTORY is for the service's own files."""
import json, os, sys

SECRET = "a-secret-of-the-rooms"


def moto(_):
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "setup")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "setup")
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://127.0.0.1:{port}"
    region = {"endpoint_url": url, "region_name": "us-east-1"}
    # The four actions that need no signature: from here on every one does.
    boto3.client("s3", **region).create_bucket(Bucket="rooms")
    iam = boto3.client("iam", **region)
    iam.create_user(UserName="room")
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    iam.put_user_policy(UserName="room", PolicyName="all", PolicyDocument=json.dumps(policy))
    key = iam.create_access_key(UserName="room")["AccessKey"]
    own = boto3.client(
        "s3", aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"], **region)

    def objects():
        # Listed without a prefix: some versions of moto check the signature of a query with a slash in it wrongly.
        for row in own.list_objects_v2(Bucket="rooms").get("Contents", []):
            try: answer = own.get_object(Bucket="rooms", Key=row["Key"])
            except own.exceptions.NoSuchKey: continue
            yield row["Key"], answer["Body"].read(), answer["ContentType"], answer.get("CacheControl")

    return (url, "us-east-1", key["AccessKeyId"], key["SecretAccessKey"]), objects, sys.stdin.readline


def swift(directory):
    """OpenStack Swift: proxy, account, container and object server, one of each, objects in memory."""
    import eventlet
    eventlet.monkey_patch()
    from eventlet import tpool, wsgi
    from swift.account.server import AccountController
    from swift.common import utils
    from swift.common.http_protocol import SwiftHttpProtocol
    from swift.common.ring import RingBuilder
    from swift.common.swob import Request
    from swift.common.wsgi import loadapp
    from swift.container.server import ContainerController
    from swift.obj.mem_server import ObjectController

    utils.HASH_PATH_SUFFIX = b"rooms"
    os.makedirs(f"{directory}/devices/one")

    def serve(app):
        listener = eventlet.listen(("127.0.0.1", 0))
        eventlet.spawn(
            wsgi.server, listener, app, utils.NullLogger(), protocol=SwiftHttpProtocol,
            capitalize_response_headers=False)
        return listener.getsockname()[1]

    storage = {"devices": f"{directory}/devices", "swift_dir": directory, "mount_check": "false"}
    for name, server in (("account", AccountController), ("container", ContainerController), ("object", ObjectController)):
        port = serve(server(storage))
        ring = RingBuilder(1, 1, 0)
        ring.add_dev({
            "id": 0, "region": 1, "zone": 1, "weight": 1, "device": "one", "meta": "", "ip": "127.0.0.1", "port": port,
            "replication_ip": "127.0.0.1", "replication_port": port})
        ring.rebalance()
        ring.get_ring().save(f"{directory}/{name}.ring.gz")

    # The same storage behind a listener that checks signatures and behind one that does not.
    def proxy(name, filters):
        with open(f"{directory}/{name}.conf", "w") as file:
            file.write(f"""
[DEFAULT]
swift_dir = {directory}
[pipeline:main]
pipeline = catch_errors listing_formats {filters} proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = eu-central-1
[filter:tempauth]
use = egg:swift#tempauth
user_live_room = {SECRET} .admin
""")
        return loadapp(f"{directory}/{name}.conf")

    inside = proxy("inside", "")

    def ask(method, path):
        answer = Request.blank("/v1/AUTH_live/rooms" + path, environ={"REQUEST_METHOD": method}).get_response(inside)
        if not answer.is_success and answer.status_int != 404: sys.exit(f"{method} {path}: {answer.status}")
        return answer

    ask("PUT", "")
    port = serve(proxy("door", "s3api tempauth"))

    def objects():
        for row in json.loads(ask("GET", "?format=json").body):
            answer = ask("GET", "/" + row["name"])
            if answer.is_success:
                yield row["name"], answer.body, answer.content_type, answer.headers.get("Cache-Control")

    # Its key has a colon in it. The servers are green threads of this one: it must not wait for a line itself.
    return ((f"http://127.0.0.1:{port}", "eu-central-1", "live:room", SECRET), objects,
            lambda: tpool.execute(sys.stdin.readline))


def rclone(directory):
    """`rclone serve s3` on a directory. It keeps neither types nor caching."""
    import ctypes, re, subprocess, threading

    os.makedirs(f"{directory}/buckets/rooms")
    child = subprocess.Popen(
        [os.path.join(os.path.dirname(sys.executable), "rclone"), "serve", "s3", "--config", f"{directory}/rclone.conf",
         "--addr", "127.0.0.1:0", "--auth-key", f"live-room,{SECRET}", f"{directory}/buckets"],
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        # PR_SET_PDEATHSIG: it ends with this process, however that ends.
        preexec_fn=lambda: ctypes.CDLL(None).prctl(1, 9))
    address = None
    for line in child.stderr:
        address = re.search(r"http://127\.0\.0\.1:[0-9]+", line)
        if address: break
        sys.stderr.write(line)
    if not address: sys.exit("rclone has no address")
    threading.Thread(target=lambda: [sys.stderr.write(line) for line in child.stderr], daemon=True).start()

    def objects():
        for place, _, names in os.walk(f"{directory}/buckets/rooms"):
            for name in names:
                path = os.path.join(place, name)
                try:
                    with open(path, "rb") as file: body = file.read()
                except FileNotFoundError: continue
                if not name.endswith(".partial"):
                    yield os.path.relpath(path, f"{directory}/buckets/rooms"), body, None, None

    return (address[0], "us-east-1", "live-room", SECRET), objects, sys.stdin.readline


def same(directory, key, body):
    try:
        with open(os.path.join(directory, os.path.basename(key)), "rb") as file: return file.read() == body
    except FileNotFoundError: return None


words, objects, next_line = {"moto": moto, "swift": swift, "rclone": rclone}[sys.argv[1]](sys.argv[2])
print(*words, flush=True)
while line := next_line():
    rows, playlists = [], {}
    for key, body, kind, caching in objects():
        rows.append({"key": key, "type": kind, "cache": caching, "same": same(line.strip(), key, body)})
        if key.endswith(".m3u8"): playlists[key] = body.decode()
    print(json.dumps({"objects": rows, "playlists": playlists}), flush=True)
