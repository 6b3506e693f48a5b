"""An S3 service that checks signatures, by moto: bucket.py

Prints its URL, an access key and its secret key. Needs Python's moto[server]."""
import json, os, sys, time, urllib.request
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
print(url, key["AccessKeyId"], key["SecretAccessKey"], flush=True)
own = boto3.client("s3", aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"], **region)
# What is there, whenever a line comes in. Listed without a prefix: some versions of moto check the signature of a query
# with a slash in it wrongly.
for line in sys.stdin:
    rows = []
    for row in own.list_objects_v2(Bucket="rooms").get("Contents", []):
        head = own.head_object(Bucket="rooms", Key=row["Key"])
        rows.append({"key": row["Key"], "type": head["ContentType"], "cache": head.get("CacheControl", "")})
    text = ""
    for row in rows:
        if row["key"].endswith("180p.m3u8"): text = own.get_object(Bucket="rooms", Key=row["key"])["Body"].read().decode()
    print(json.dumps({"objects": rows, "playlist": text}), flush=True)
