import Foundation

/// Pipelines of tests: two publishers, solo and side by side.
enum Rooms {
    /// One small rendition with low CPU cost.
    static let small =
        #"[{ "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 300000, "preset": "ultrafast" } }]"#
    /// One large rendition, whose frames are read. Without B-frames: FFmpeg reads negative composition offsets as a
    /// shift of the whole track by one frame, and would report it for the audio.
    static let large = """
        [{ "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000, "preset": "ultrafast", "bFrames": 0 } }]
        """

    /// A live room with the keys `a` (uid 1001) and `b` (uid 2002), whose ports the system chooses by default.
    ///
    /// - Parameters:
    ///   - volumes: Volumes of the two sources, in percent.
    ///   - members: More members of the document: JSON with a trailing comma.
    static func live(
        _ directory: String, renditions: String? = nil, canvas: (width: Int, height: Int) = (1280, 720),
        scene: String = "solo", volumes: (Int, Int) = (100, 100), rtmp: String = "127.0.0.1:0", members: String = ""
    ) -> String {
        """
        {
          "room": { "roomId": "e2e" }, \(members)
          "ingest": { "rtmp": { "listen": "\(rtmp)" } },
          "sources": [
            { "uid": "1001", "streamKey": "a", "volume": \(volumes.0) },
            { "uid": "2002", "streamKey": "b", "volume": \(volumes.1) }
          ],
          "canvas": { "width": \(canvas.width), "height": \(canvas.height) },
          "scenes": [
            { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
            { "sceneId": "guest", "layout": "solo", "uids": ["2002"] },
            { "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"] }
          ],
          "program": { "scene": "\(scene)" },
          \(renditions.map { "\"renditions\": \($0)," } ?? "")
          "outputs": [{ "type": "hls", "path": "\(directory)", "windowSeconds": 600, "http": { "listen": "127.0.0.1:0" } }]
        }
        """
    }

    /// A live room with low CPU cost.
    static func small(_ directory: String, rtmp: String = "127.0.0.1:0", members: String = "") -> String {
        self.live(directory, renditions: self.small, canvas: (320, 180), rtmp: rtmp, members: members)
    }

    /// Two files, side by side unless `panes` says otherwise.
    static func offline(
        _ files: (String, String), seconds: Double, panes: String? = nil, renditions: String? = nil, outputs: String,
        canvas: String = #""width": 1280, "height": 720, "backgroundColor": "\#("#")000000""#
    ) -> String {
        let scene = panes.map { "\"panes\": [\($0)]" } ?? #""layout": "sideBySide", "uids": ["1001", "2002"]"#
        return """
            {
              "room": { "roomId": "e2e" }, "clock": "offline", "durationSeconds": \(seconds),
              "sources": [
                { "uid": "1001", "type": "file", "path": "\(files.0)" },
                { "uid": "2002", "type": "file", "path": "\(files.1)" }
              ],
              "canvas": { \(canvas) },
              "scenes": [{ "sceneId": "scene", \(scene) }],
              \(renditions.map { "\"renditions\": \($0)," } ?? "")
              "outputs": [\(outputs)]
            }
            """
    }
}
