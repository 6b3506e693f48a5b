import Foundation

/// The pipeline file of a room that accepts all commands of ``RoomCommand/all``, and documents that replace it.
struct CommandedRoomFile {
    /// An address without a listener.
    private static let nowhere = "127.0.0.1:9"

    /// Directory of the room's HLS output.
    let directory: String
    /// A date in 50 s: a scene may be scheduled at most 60 s ahead.
    var later: String { ISO8601DateFormatter().string(from: Date().addingTimeInterval(50)) }

    static func relay(_ key: String) -> String { #"{"url":"rtmp://\#(Self.nowhere)/live/\#(key)"}"# }

    /// Stream key as in the room's pipeline.
    private static func key(_ publisher: ColoredPublisher) -> String { SecretWatch.long(publisher.key) }

    /// - Parameter late: Stream key of the source 3003; nil: the room does not have it.
    func sources(late: String? = nil) -> String {
        let more = late.map { #", { "uid": "3003", "streamKey": "\#($0)" }"# } ?? ""
        return #"""
            [{ "uid": "1001", "streamKey": "\#(Self.key(.host))" },
             { "uid": "2002", "streamKey": "\#(Self.key(.guest))", "audioTracks": [{ "track": 1 }] },
             { "uid": "4004", "streamKey": "\#(Self.key(.third))" }\#(more)]
            """#
    }

    /// - Parameter pushes: Whether there is also an RTMP output.
    func outputs(pushes: Bool = false) -> String {
        let push = #", { "type": "rtmp", "outputId": "cdn", "url": "rtmp://\#(Self.nowhere)/live", "key": "push-key" }"#
        return #"""
            [{ "type": "hls", "path": "\#(self.directory)", "windowSeconds": 600,
               "http": { "listen": "127.0.0.1:0" } }\#(pushes ? push : "")]
            """#
    }

    /// - Parameter members: More members of the document: JSON with a trailing comma.
    func pipeline(title: String = "File", members: String = "") -> String {
        #"""
        {
          "room": { "roomId": "e2e", "title": "\#(title)" }, \#(members)
          "ingest": { "rtmp": { "listen": "127.0.0.1:0", "reconnectGraceMs": 600000 } },
          "control": { "egress": { "allowedHosts": ["127.0.0.0/8"] } },
          "sources": \#(self.sources()),
          "canvas": { "width": 320, "height": 180 },
          "scenes": [
            { "sceneId": "all", "panes": [
              { "uid": "1001", "x": 0, "y": 0, "width": 106, "height": 180 },
              { "uid": "2002", "x": 106, "y": 0, "width": 106, "height": 180 },
              { "uid": "4004", "x": 212, "y": 0, "width": 106, "height": 180 }] },
            { "sceneId": "guest", "layout": "sideBySide", "uids": ["2002", "1001"] },
            { "sceneId": "spare", "layout": "solo", "uids": ["2002"] },
            { "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"],
              "texts": [{ "textId": "left", "text": "a", "x": 8, "y": 8, "size": 16 }],
              "scoreBars": [{ "scoreId": "pk", "x": 0, "y": 40, "width": "100%", "height": 16 }],
              "countdowns": [{ "countdownId": "clock", "seconds": 60, "x": 8, "y": 64, "size": 16 }] }
          ],
          "program": { "scene": "all" },
          "pk": { "scene": "pk", "durationMs": 600000, "punishMs": 60000, "endScene": "all" },
          "renditions": \#(Rooms.small),
          "outputs": \#(self.outputs())
        }
        """#
    }
}
