import ArgumentParser
import Libc
import PipelineSpec
import TerminalText

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check what this machine has and lacks for rooms, with a remedy for each problem.",
        discussion: """
            Checks FFmpeg and its codecs, fonts by script, limits of the process, the clock, the TCP ports of a pipeline,
            the speed and space of a disk, and the network's addresses. Exits with 1 if something is an error: then rooms,
            or the room of the pipeline, do not run. Ports of a room that runs here count as in use.

                tandem doctor
                tandem doctor --pipeline room.json --directory /var/lib/tandem
                tandem doctor --json
            """)

    @Option(help: ArgumentHelp("Check the ports of this pipeline file; - is standard input.", valueName: "file"))
    var pipeline: String?

    @Option(
        help: ArgumentHelp(
            "Directory whose disk is measured with up to twenty small writes.", valueName: "dir"))
    var directory = "."

    @Flag(help: "Print the findings as JSON.")
    var json = false

    func run() throws {
        RoomProcess.ignoreBrokenPipes()
        let pipeline = try self.pipeline.map { try PipelineLoading.load($0, set: []) }
        let report = MachineProbe.facts(pipeline: pipeline, directory: self.directory).report
        try StandardOutput.write(self.json ? report.json.text + "\n" : report.text(TerminalOutput.style))
        if report.hasErrors { throw ExitCode(1) }
    }
}
