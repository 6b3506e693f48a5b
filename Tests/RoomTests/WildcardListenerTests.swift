import PipelineSpec
import Room
import Testing

@Suite("Listeners on every address of the machine, as the event room.ready names them")
struct WildcardListenerTests {
    private static func names(rtmp: String, viewer: String, control: String) throws -> [String] {
        let text = """
            {
              "room": { "roomId": "r" }, "ingest": { "rtmp": { "listen": \(rtmp) } },
              "control": { "listen": \(control), "tokenEnv": "TANDEM_TOKEN" },
              "sources": [ { "uid": "1001", "streamKey": "k1" } ],
              "scenes": [ { "sceneId": "solo", "layout": "solo", "uids": ["1001"] } ],
              "renditions": [ { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2000000 } } ],
              "outputs": [ { "path": "out", "http": { "listen": \(viewer) } } ]
            }
            """
        return try Pipeline.parse(text).result.get().wildcardListeners
    }

    @Test(
        "the list of wildcard listeners has those on 0.0.0.0 and [::], none on another address or Unix socket, and none disabled"
    )
    func wildcards() throws {
        #expect(
            try Self.names(rtmp: #""0.0.0.0:1935""#, viewer: #""[::]:8080""#, control: #""0.0.0.0:8081""#)
                == ["rtmp", "viewer", "control"])
        #expect(try Self.names(rtmp: #""127.0.0.1:0""#, viewer: "null", control: #""unix:/run/tandem.sock""#) == [])
        #expect(try Self.names(rtmp: #""192.0.2.7:1935""#, viewer: #""[::1]:0""#, control: #""127.0.0.1:0""#) == [])
    }
}
