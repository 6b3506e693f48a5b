import MediaTypes

/// Pipelines of in-process rooms: two publishers, one small rendition, no sockets.
enum HarnessRooms {
    static let first = "1001"
    static let second = "2002"

    /// The stream key of a source.
    static func key(of uid: String) -> String { "key-of-\(uid)" }

    /// What a source's publisher sends by default. Source 2002 sends video that differs from the others'.
    static func appearance(of uid: String) -> ScriptedClip.Appearance { uid == self.second ? .light : .dark }

    /// Two sources; the scenes `solo` (1001), `guest` (2002) and `pk` (both).
    ///
    /// - Parameters:
    ///   - directory: Directory of the HLS output.
    ///   - members: More members of the document: JSON with a trailing comma.
    ///   - source: More members of the second source: JSON with a leading comma.
    ///   - scene: The scene on air at first.
    ///   - fps: Frames per second of the canvas, which are ticks per second.
    ///   - grace: Time that a lost publisher has to return, in milliseconds.
    ///   - hls: More members of the HLS output: JSON with a leading comma.
    ///   - outputs: More outputs: JSON with a leading comma.
    static func duel(
        _ directory: String, members: String = "", source: String = "", scene: String = "solo", fps: Int = 10,
        grace: Int = 15_000, hls: String = "", outputs: String = ""
    ) -> String {
        """
        {
          "room": { "roomId": "harness" }, \(members)
          "ingest": { "rtmp": { "listen": "127.0.0.1:0", "reconnectGraceMs": \(grace) } },
          "sources": [
            { "uid": "\(self.first)", "streamKey": "\(self.key(of: self.first))" },
            { "uid": "\(self.second)", "streamKey": "\(self.key(of: self.second))"\(source) }
          ],
          "canvas": { "width": 160, "height": 90, "fps": \(fps) },
          "scenes": [
            { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
            { "sceneId": "guest", "layout": "solo", "uids": ["2002"] },
            { "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"],
              "texts": [{ "textId": "left", "text": "a", "x": 8, "y": 8, "size": 8 }],
              "scoreBars": [{ "scoreId": "pk", "x": 0, "y": 40, "width": "100%", "height": 8 }] }
          ],
          "program": { "scene": "\(scene)" },
          "renditions": [
            { "name": "90p", "width": 160, "height": 90, "video": { "bitrate": 100000, "preset": "ultrafast" } }
          ],
          "outputs": [
            { "type": "hls", "path": "\(directory)", "lowLatency": false, "http": { "listen": null }\(hls) }\(outputs)
          ]
        }
        """
    }

    /// An output that writes each frame of the program to `canvas.y4m`; see ``CanvasFrames``.
    static func raw(_ directory: String) -> String { #", { "type": "raw", "path": "\#(directory)/canvas.y4m" }"# }
}
