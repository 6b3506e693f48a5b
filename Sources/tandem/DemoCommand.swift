import ArgumentParser
import Logging
import MediaTypes
import PipelineSpec
import Room
import Threading

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract:
            "Run a PK room on this machine: two RTMP publishers, solo and side by side, with HLS and a page to watch.",
        discussion: """
            Two streamers (this program again, as RTMP clients) publish to a room that alternates between a solo scene
            and a PK. Open the printed pages, to watch and to control the room, or the playlist in any player. To publish
            your own video instead, use a printed line for OBS, ffmpeg or the browser: the last publisher with a key is
            on air.

                tandem demo
                tandem demo --duration 60 --output /tmp/pk --summary summary.json
            """)

    @Option(help: ArgumentHelp("Directory for the HLS files.", valueName: "dir"))
    var output = "./tandem-demo"

    @Option(help: ArgumentHelp("End after this time; default: run until interrupted.", valueName: "seconds"))
    var duration: Int?

    @Option(help: ArgumentHelp("Write the summary to this file as JSON.", valueName: "file"))
    var summary: String?

    @Option(
        help: ArgumentHelp("Port of the page and the stream; if 0 or in use, the system chooses.", valueName: "port"))
    var httpPort: UInt16 = 8080

    @Option(help: ArgumentHelp("Port for publishers; if 0 or in use, the system chooses.", valueName: "port"))
    var rtmpPort: UInt16 = 1935

    @Option(help: ArgumentHelp("Port of the control page; if 0 or in use, the system chooses.", valueName: "port"))
    var controlPort: UInt16 = 8081

    @Flag(help: "Print one line per scene change instead of a live status line.")
    var plain = false

    func validate() throws {
        if let duration = self.duration, !(3...86_400).contains(duration) {
            throw ValidationError("--duration \(duration): give 3 to 86400 seconds")
        }
    }

    func run() async throws {
        LogOutput.bootstrap(.auto, level: .warning)
        let pipeline = try self.pipeline()
        let display = DemoDisplay(isLive: StandardError.isTerminal && !self.plain, output: self.output)
        let script = DemoScript(duration: self.duration)
        let status = await RoomRunner.run(
            RoomSettings(pipeline: pipeline, newSession: true, clocks: .system), write: { display.received($0) },
            alongside: { room in await script.play(in: room, display) })
        script.stopPublishers()
        display.finish()
        if let summary = script.summary {
            StandardError.write("\n\(summary.text)")
            if let path = self.summary, !FileBytes.write(summary.json.text + "\n", toFile: path) {
                StandardError.write("cannot write the summary to \(path). Fix: give a path that can be written\n")
                throw ExitStatus.cannotCreate.code
            }
        }
        if status != .roomOver { throw status.code }
    }

    /// The demo room, as the pipeline file that an operator would write.
    private func pipeline() throws -> Pipeline {
        let rtmp = RoomProcess.isPortFree(self.rtmpPort) ? self.rtmpPort : 0
        let http = RoomProcess.isPortFree(self.httpPort) ? self.httpPort : 0
        let control = RoomProcess.isPortFree(self.controlPort) ? self.controlPort : 0
        // The default port of the WHIP listener, and of its media.
        let (whip, media) = (RoomProcess.isPortFree(8889) ? 8889 : 0, RoomProcess.isPortFree(8189) ? 8189 : 0)
        let output = JSONValue.string(self.output).text
        let text = """
            {
              "room": { "roomId": "demo", "title": "Tandem demo: ANNA against BEN" },
              "control": { "listen": "127.0.0.1:\(control)" },
              "ingest": {
                "rtmp": { "listen": "127.0.0.1:\(rtmp)" },
                "webrtc": { "listen": "127.0.0.1:\(whip)", "udp": "127.0.0.1:\(media)" }
              },
              "sources": [
                { "uid": "anna", "name": "ANNA", "streamKey": "anna" },
                { "uid": "ben", "name": "BEN", "streamKey": "ben" }
              ],
              "scenes": [
                { "sceneId": "solo", "layout": "solo", "uids": ["anna"] },
                { "sceneId": "pk", "layout": "sideBySide", "uids": ["anna", "ben"] }
              ],
              "outputs": [{ "type": "hls", "path": \(output), "http": { "listen": "127.0.0.1:\(http)", "lingerSeconds": 3 } }]
            }
            """
        let report = Pipeline.parse(text)
        guard var pipeline = report.pipeline else {
            StandardError.write(report.text(file: "demo"))
            throw ExitStatus.bug.code
        }
        pipeline.durationMs = self.duration.map { $0 * 1000 }
        return pipeline
    }
}
