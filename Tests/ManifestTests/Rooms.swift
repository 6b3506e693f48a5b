import Manifest
import PipelineSpec
import CapacityPlan
import Testing

/// Rooms to make manifests of.
enum Rooms {
    /// Small: all that is not said is as it comes.
    static let small = """
        { "room": { "roomId": "88231" }, "sources": [{ "uid": "1001", "streamKey": "hunter2a" }],
          "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }], "outputs": [{ "path": "out/88231" }] }
        """

    /// Every kind of secret, file, listener and output.
    static let full = """
        {
          "room": { "roomId": "Room_7" },
          "control": { "listen": "0.0.0.0:9100", "tokenFile": "keys/token", "readTokenFile": "keys/reader", "events": [
            { "type": "webhook", "url": "https://user:hunter2x@hooks.example/pk?token=hunter2h", "secretEnv": "HOOK_SECRET" } ] },
          "ingest": {
            "rtmp": { "listen": "127.0.0.1:0" },
            "rtmps": { "listen": "0.0.0.0:443", "tls": { "certificate": "keys/a.crt", "key": "keys/a.key" } },
            "srt": { "passphraseFile": "/keys/word" },
            "pull": { "allowedHosts": ["cdn.example"] },
            "auth": { "type": "hmac", "secretEnv": "SIGNING" } },
          "sources": [
            { "uid": "1001", "streamKeys": ["hunter2c", "hunter2d"],
              "relays": [{ "relayId": "r", "url": "rtmp://other.example/live/hunter2r" }] },
            { "uid": "2002", "type": "rtmp-pull", "url": "rtmp://cdn.example/live/hunter2p" },
            { "uid": "3003", "streamKeyFile": "keys/third", "onLost": { "placeholderImage": "images/away.png" } },
            { "uid": "4004", "type": "file", "path": "clips/loop.mp4", "loop": true }
          ],
          "canvas": { "bgImages": [{ "path": "images/bg.png" }], "fonts": ["fonts/Brand.ttf"] },
          "watermarks": [{ "path": "other/bg.png", "x": 0, "y": 0, "width": 64, "height": 64 }],
          "scenes": [{ "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"] }],
          "outputs": [
            { "path": "/srv/hls/room7", "http": { "listen": "0.0.0.0:8090", "signedUrls": { "secretFile": "keys/sign" } } },
            { "type": "record", "path": "rec" },
            { "type": "rtmp", "outputId": "cdn", "url": "rtmp://cdn.example/live/hunter2u" },
            { "type": "rtmp", "outputId": "cdn2", "url": "rtmps://cdn.example/live", "key": "hunter2v",
              "tls": { "authorities": "keys/ca.pem" } },
            { "type": "s3", "outputId": "bucket", "endpoint": "https://s3.example", "bucket": "rooms",
              "accessKeyEnv": "S3_ID", "secretKeyFile": "keys/s3" },
            { "type": "image", "outputId": "still", "path": "/srv/hls/room7/still.jpg" } ],
          "shutdown": { "endTimeoutMs": 61500 }
        }
        """

    static func request(_ text: String) throws -> ManifestRequest {
        let report = Pipeline.parse(text)
        let pipeline = try #require(report.pipeline, "\(report.text(file: "test"))")
        let document = try #require(Pipeline.document(Array(text.utf8)))
        var request = ManifestRequest(
            pipeline: pipeline, document: document, cost: CostModel().cost(of: pipeline))
        request.image = "registry.example/tandem:1"
        return request
    }

    static let engines: [(name: String, files: @Sendable (ManifestRequest) -> [ManifestFile])] = [
        ("k8s", KubernetesManifest.files), ("swarm", SwarmManifest.files), ("systemd", SystemdManifest.files),
        ("nomad", NomadManifest.files),
    ]
}
