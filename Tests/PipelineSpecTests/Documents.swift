import Glibc
import PipelineSpec

/// Texts the tests read.
enum Documents {
    /// A room without a mistake, one subject a line.
    static let room = """
        {
          "room": { "roomId": "88231" },
          "control": { "listen": "127.0.0.1:0" },
          "sources": [
            { "uid": "1001", "streamKey": "hunter2a" },
            { "uid": "2002", "streamKey": "hunter2b" }
          ],
          "canvas": { "width": 1280, "height": 720, "fps": 30 },
          "scenes": [
            { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
            { "sceneId": "pk", "panes": [
              { "uid": "1001", "width": 640, "height": 720 },
              { "uid": "2002", "x": 640, "width": 640, "height": 720 } ] }
          ],
          "renditions": [ { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000 } } ],
          "outputs": [ { "path": "out" } ]
        }
        """

    /// Documents that together use every key there is, none with its default value.
    static let full = [
        """
        {
          "apiVersion": "tandem/v1",
          "room": { "roomId": "88231", "title": "t" },
          "clock": "live", "durationSeconds": 1.5,
          "control": { "listen": "0.0.0.0:9000", "tokenFile": "/run/token" },
          "ingest": { "rtmp": { "listen": "127.0.0.1:1936", "app": "pk", "chunkSize": 8192, "onDuplicate": "reject",
            "firstPacketTimeoutMs": 10000, "idleTimeoutMs": 60000, "reconnectGraceMs": 5000, "maxConnections": 8 } },
          "sources": [
            { "uid": 1001, "streamType": "main", "name": "anchorA", "type": "rtmp", "streamKey": "hunter2a", "volume": 90,
              "jitterBufferMs": 300, "stallMs": 900, "offsetMs": -40,
              "expected": { "width": 720, "height": 1280, "fps": 25, "variableFrameRate": true, "videoBitrate": 1000000,
                "keyFrameIntervalSeconds": 4, "audioSampleRate": 44100, "audioBitrate": 96000 },
              "onLost": { "holdMs": 1000, "placeholderImage": "away.png" }, "decode": { "threads": 2 } },
            { "uid": "1001", "streamType": "sub", "streamKeyEnv": "KEY" },
            { "uid": "2002", "streamKeyFile": "/run/key" },
            { "uid": "3003", "type": "file", "path": "a.mp4", "loop": true }
          ],
          "canvas": { "width": 640, "height": 360, "fps": 25, "backgroundColor": "#000000" },
          "scenes": [
            { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
            { "sceneId": "pk", "backgroundColor": 255, "audioOverrides": [ { "uid": "2002", "volume": 60 } ], "panes": [
              { "uid": "1001", "streamType": "sub", "x": 2, "y": 4, "width": 320, "height": 180, "zOrder": 1, "adaption": "fit",
                "videoPush": false, "audioPush": false, "volume": 50 } ] }
          ],
          "program": { "scene": "pk" },
          "audio": { "sampleRate": 48000, "channels": 2, "bitrate": 96000, "rampMs": 40 },
          "renditions": [ { "name": "360p", "width": 640, "height": 360, "fps": 25, "video": { "codec": "h264",
            "encoder": "libx264", "preset": "fast", "profile": "main", "bitrate": 600000, "maxBitrate": 800000,
            "bufferSize": 900000, "bFrames": 2, "lookaheadFrames": 10, "threads": 2 } } ],
          "outputs": [
            { "outputId": "h", "type": "hls", "path": "out", "multivariantPlaylist": "all.m3u8", "gopFrames": 50,
              "segmentGops": 1, "partFrames": 25, "windowSeconds": 30, "playlistType": "event", "deleteGraceSeconds": 5, "lowLatency": false,
              "http": { "listen": "127.0.0.1:8080", "allowOrigins": ["https://example.com"] } },
            { "outputId": "r", "type": "raw", "path": "canvas.y4m" }
          ],
          "limits": { "maxInputWidth": 1280, "maxInputHeight": 1280, "maxInputFps": 30, "maxSources": 5 },
          "ext": { "anything": [1, { "a b": null }] }
        }
        """,
        Self.room.replacing("\"listen\": \"127.0.0.1:0\"", with: "\"tokenEnv\": \"TOKEN\""),
    ]

    /// The repository, found from this file.
    static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen("\(self.root)/\(path)", "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    static func write(_ bytes: [UInt8], to path: String) -> Bool {
        guard let file = fopen("\(self.root)/\(path)", "wb") else { return false }
        defer { fclose(file) }
        return fwrite(bytes, 1, bytes.count, file) == bytes.count
    }
}

extension String {
    /// Every occurrence of `old` replaced.
    func replacing(_ old: String, with new: String) -> String {
        var parts: [Substring] = []
        var rest = self[...]
        while let range = rest.firstRange(of: old) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return (parts + [rest]).joined(separator: new)
    }
}

/// Numbers that look random and are the same each run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
