import ArgumentParser
import CVersion
import LibAV
import MediaTypes

@main
struct Tandem: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tandem",
        abstract: "A live worker for one room: several RTMP publishers in, one picture and sound, a ladder of HLS out.",
        discussion: """
            See it work:      tandem demo
            Check a room:     tandem validate pipelines/pk-landscape.json
            Run a room:       tandem run pipelines/pk-landscape.json --set control.listen=127.0.0.1:8081
            Publish to it:    tandem publish pattern:ANNA rtmp://127.0.0.1:1935/live/a_7fd1
                              ffmpeg -re -i clip.mp4 -c copy -f flv rtmp://127.0.0.1:1935/live/b_19c4
            Look and steer:   tandem ctl state -a http://127.0.0.1:8081
            Launch it:        tandem plan room.json && tandem manifest room.json --for k8s > room.yaml
            Judge its HLS:    tandem lint-hls http://127.0.0.1:8080/index.m3u8 --duration 60

            Exit codes: 0 the room is over · 64 flags · 65 pipeline file · 66 a file is missing · 69 a port is taken ·
            70 our mistake · 73 cannot create, or the room has ended · 74 output lost · 75 the room is over and something of
            it unfinished: run the same file again · 78 impossible on this machine · 130 interrupted twice ·
            143 stopped, the room goes on in a successor. Besides: 1 a room or a probe says no (ctl, healthcheck) ·
            77 a server refuses the key (publish).
            """,
        version: "tandem \(TandemVersion.number)\(Self.commit), FFmpeg \(LibAV.version)",
        subcommands: [
            RunCommand.self, ValidateCommand.self, PublishCommand.self, DemoCommand.self, LintHLSCommand.self,
            SchemaCommand.self, SignURLCommand.self, CtlCommand.self, HealthcheckCommand.self, PlanCommand.self,
            ManifestCommand.self,
        ])

    /// The commit of the build in brackets, after a space; empty if the build did not know it.
    private static let commit: String = {
        let commit = String(cString: tandem_commit())
        return commit.isEmpty ? "" : " (\(commit))"
    }()

    static func main() async {
        ProcessStart.begin()
        if let message = CommandAdvice.message(Array(CommandLine.arguments.dropFirst())) {
            StandardError.write(message)
            RoomProcess.exit(.usage)
        }
        await self.main(nil)
    }
}
