import ArgumentParser
import CVersion
import LibAV
import MediaTypes
import TerminalText

@main
struct Tandem: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tandem",
        abstract:
            "A live worker for one room: several RTMP or SRT publishers in, one composited program in HLS out.",
        discussion: """
            See it work:      tandem demo
            Check a machine:  tandem doctor
            Check a room:     tandem validate pipelines/pk-landscape.json
            Run a room:       tandem run pipelines/pk-landscape.json \\
                                --set control.listen=127.0.0.1:8081
            Publish to it:    tandem publish pattern:ANNA rtmp://127.0.0.1:1935/live/a_7fd1
                              ffmpeg -re -i clip.mp4 -c copy -f flv \\
                                rtmp://127.0.0.1:1935/live/b_19c4
            Watch it:         tandem ctl watch -a http://127.0.0.1:8081
            Control it:       tandem ctl scene pk -a http://127.0.0.1:8081
            Deploy it:        tandem plan room.json
                              tandem manifest room.json --for k8s > room.yaml
            Route publishers: tandem edge --keys keys --listen 0.0.0.0:1935
            Check its HLS:    tandem lint-hls http://127.0.0.1:8080/index.m3u8

            Exit codes: 0 the room has ended · 64 flags · 65 pipeline file · 66 a file is missing · 69 a port is in use
            · 70 internal error · 73 cannot create, or the room has ended before · 74 output lost · 75 the room has
            ended, but work is left: run the same file again · 78 impossible on this machine · 130 interrupted twice ·
            143 stopped, the room continues in a successor. Also: 1 a command or a probe failed (ctl, doctor,
            healthcheck) · 77
            the server refused the key (publish).
            """,
        version: "tandem \(TandemVersion.number)\(Self.commit), FFmpeg \(LibAV.version)",
        subcommands: [
            RunCommand.self, ValidateCommand.self, PublishCommand.self, DemoCommand.self, LintHLSCommand.self,
            DoctorCommand.self, SchemaCommand.self, SignURLCommand.self, SignKeyCommand.self, CtlCommand.self,
            HealthcheckCommand.self,
            PlanCommand.self,
            ManifestCommand.self, GCCommand.self, EdgeCommand.self,
        ])

    /// The commit of the build in brackets, after a space; empty if the commit was not known when the program was
    /// built.
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
        do {
            var command = try await self.asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            self.leave(error)
        }
    }

    /// Prints the message for an error or a request for help, and ends the process. In contrast to
    /// `exit(withError:)`, usage lines are wrapped, too.
    private static func leave(_ error: any Error) -> Never {
        let columns = TerminalOutput.size.columns
        let message = HelpText.wrappingUsage(self.fullMessage(for: error, columns: columns), columns: columns)
        guard message.contains("USAGE: ") || message.contains("Usage: ") else { self.exit(withError: error) }
        let code = self.exitCode(for: error)
        if code == .success { StandardOutput.tell(message + "\n") } else { StandardError.write(message + "\n") }
        self.exit(withError: code)
    }
}
