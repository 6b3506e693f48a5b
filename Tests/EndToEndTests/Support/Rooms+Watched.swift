extension Rooms {
    /// A live room for real players: 640x360, the low-latency preset.
    ///
    /// - Parameters:
    ///   - partFrames: Frames of a part; for any number but 16, a GOP has three parts.
    ///   - rtmp: Address for publishers; by default the system chooses the port.
    ///   - http: Address for viewers; by default the system chooses the port.
    ///   - scene: `solo` or `pk`.
    ///   - second: Whether there is a smaller rendition, too.
    static func watched(
        _ directory: String, partFrames: Int = 16, rtmp: String = "127.0.0.1:0", http: String = "127.0.0.1:0",
        scene: String = "solo", second: Bool = false
    ) -> String {
        let small = #", { "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 250000 } }"#
        let grid = partFrames == 16 ? "" : #""partFrames": \#(partFrames), "gopFrames": \#(partFrames * 3), "#
        return """
            {
              "room": { "roomId": "watched" }, "ingest": { "rtmp": { "listen": "\(rtmp)" } },
              "sources": [
                { "uid": "1001", "streamKey": "a", "name": "ANNA", "jitterBufferMs": 120 },
                { "uid": "2002", "streamKey": "b", "name": "BEN", "jitterBufferMs": 120 }
              ],
              "canvas": { "width": 640, "height": 360 },
              "scenes": [
                { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
                { "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"] }
              ],
              "program": { "scene": "\(scene)" },
              "renditions": [
                { "name": "360p", "width": 640, "height": 360, "video": { "bitrate": 700000 } }\(second ? small : "")
              ],
              "outputs": [{
                "type": "hls", "path": "\(directory)", "preset": "lowLatency", \(grid)"windowSeconds": 600,
                "http": { "listen": "\(http)" }
              }]
            }
            """
    }
}
