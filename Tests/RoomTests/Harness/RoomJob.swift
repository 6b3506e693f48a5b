import Logging
import MediaTypes
import PipelineSpec
import Room
import Threading

/// A room with the offline clock, run to its end in the test's process.
enum RoomJob {
    /// Two files, 1001 and 2002, which make one small rendition.
    ///
    /// - Parameters:
    ///   - files: Paths.
    ///   - scene: Members of the one scene, JSON.
    ///   - members: More members of the document, JSON with a comma at the end.
    ///   - output: More outputs, JSON with a comma at the beginning.
    static func pipeline(
        _ directory: String, files: (String, String), seconds: Double, members: String = "",
        scene: String = #""layout": "sideBySide", "uids": ["1001", "2002"]"#, output: String = ""
    ) -> String {
        """
        {
          "room": { "roomId": "job" }, "clock": "offline", "durationSeconds": \(seconds), \(members)
          "sources": [
            { "uid": "1001", "type": "file", "path": "\(files.0)" },
            { "uid": "2002", "type": "file", "path": "\(files.1)" }
          ],
          "canvas": { "width": 160, "height": 90, "fps": 10 },
          "scenes": [{ "sceneId": "scene", \(scene) }],
          "renditions": [
            { "name": "90p", "width": 160, "height": 90, "video": { "bitrate": 100000, "preset": "ultrafast" } }
          ],
          "outputs": [{ "type": "hls", "path": "\(directory)/out" }\(output)]
        }
        """
    }

    /// - Parameter set: Values of the pipeline, as `--set` takes them.
    /// - Returns: How it ended, and what it told.
    static func run(
        _ pipeline: String, set: [String] = []
    ) async throws -> (outcome: RoomOutcome, events: ToldEvents) {
        let document = try RoomDocument.read(
            Array(pipeline.utf8), overrides: set.compactMap { SpecOverride(argument: $0) }
        ).get().document
        var settings = RoomSettings(pipeline: document.pipeline, document: document, clocks: .system)
        settings.opensListeners = false
        let told = ToldEvents()
        let room = try await offPool { [settings] in
            let events = RoomEvents(roomID: settings.pipeline.room.roomID, wall: settings.clocks.wall) { told.take($0) }
            let logger = Logger(label: "room") { _ in SwiftLogNoOpLogHandler() }
            return try Room.open(settings, events: events, logger: logger)
        }
        return (await room.run(), told)
    }
}
