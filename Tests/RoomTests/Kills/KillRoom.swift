import MediaTypes
import PipelineSpec
import Room

/// The room whose worker is killed while it writes `commands.json`, as a pipeline file and as edits of it.
enum KillRoom {
    static let host = SourceID(uid: "1001")
    static let guest = SourceID(uid: "2002")
    /// A source added by a document edit, without a publisher.
    static let late = SourceID(uid: "3003")

    /// An address without a listener.
    static let nowhere = "127.0.0.1:9"

    /// - Parameter members: More members of the document: JSON with a trailing comma.
    static func pipeline(_ directory: String, title: String = "File", members: String = "") -> String {
        """
        {
          "room": { "roomId": "kills", "title": "\(title)" }, \(members)
          "ingest": { "rtmp": { "listen": "127.0.0.1:0", "reconnectGraceMs": 600000 } },
          "control": { "egress": { "allowedHosts": ["127.0.0.0/8"] } },
          "sources": \(self.sources()),
          "canvas": { "width": 160, "height": 90, "fps": 10 },
          "scenes": [
            { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
            { "sceneId": "guest", "layout": "solo", "uids": ["2002"] },
            { "sceneId": "spare", "layout": "solo", "uids": ["2002"] },
            { "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"],
              "texts": [{ "textId": "left", "text": "a", "x": 8, "y": 8, "size": 8 }],
              "scoreBars": [{ "scoreId": "pk", "x": 0, "y": 40, "width": "100%", "height": 8 }],
              "countdowns": [{ "countdownId": "clock", "seconds": 60, "x": 8, "y": 60, "size": 8 }] }
          ],
          "program": { "scene": "solo" },
          "pk": { "scene": "pk", "durationMs": 600000, "punishMs": 60000, "endScene": "solo" },
          "renditions": [
            { "name": "90p", "width": 160, "height": 90, "video": { "bitrate": 100000, "preset": "ultrafast" } }
          ],
          "outputs": \(self.outputs(directory))
        }
        """
    }

    /// - Parameter key: Stream key of the added source; nil: the room does not have it.
    static func sources(late key: String? = nil) -> String {
        let more = key.map { #", { "uid": "3003", "streamKey": "\#($0)" }"# } ?? ""
        return """
            [{ "uid": "1001", "streamKey": "\(HarnessRooms.key(of: "1001"))" },
             { "uid": "2002", "streamKey": "\(HarnessRooms.key(of: "2002"))", "audioTracks": [{ "track": 1 }] }\(more)]
            """
    }

    /// - Parameter more: Further outputs: JSON with a leading comma.
    static func outputs(_ directory: String, more: String = "") -> String {
        """
        [{ "type": "hls", "path": "\(directory)/hls", "lowLatency": false, "http": { "listen": null } },
         { "type": "record", "outputId": "record", "path": "\(directory)/record", "active": false }\(more)]
        """
    }

    /// The state that a successor resumes if `commands.json` has this content.
    ///
    /// - Parameter bytes: nil: the file does not exist.
    static func resumption(_ bytes: [UInt8]?, _ pipeline: String) throws -> Resumption {
        let document = try RoomDocument.read(Array(pipeline.utf8)).get().document
        return Resumption(
            RoomSettings(pipeline: document.pipeline, document: document, clocks: .system), bytes)
    }
}
