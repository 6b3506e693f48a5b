import ArgumentParser
import PipelineSpec
import Room
import Threading

struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check pipeline files: print a summary, or all mistakes at once.",
        discussion: """
            Prints canvas, sources, scenes, renditions, outputs, and the derived segment and part durations. Each
            mistake is printed with its JSON path, line and column, and how to fix it. Image files are checked; text
            with characters that no font on this machine has causes a warning, and so does an encoder, a codec or SRT
            that this machine's FFmpeg lacks. Exits with 65 if a file has mistakes.

                tandem validate pipelines/*.json
                tandem validate room.json --set canvas.fps=25
                tandem validate room.json --format json
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    @Argument(help: "Pipeline files; - is standard input.")
    var files: [String]

    @Option(name: .long, help: ArgumentHelp("Override a value before the check, repeatable.", valueName: "path=value"))
    var set: [String] = []

    @Option(help: "Format of the report.")
    var format: Format = .text

    func run() throws {
        var overrides: [SpecOverride] = []
        for argument in self.set {
            guard let override = SpecOverride(argument: argument) else {
                throw ValidationError("--set \(argument): write it as path=value, such as sources[0].volume=50")
            }
            overrides.append(override)
        }
        var isValid = true
        for file in self.files {
            let report = Pipeline.parse(
                try PipelineLoading.read(file), overrides: overrides, checks: RoomChecks.here(wall: Clocks.system.wall))
            isValid = isValid && report.pipeline != nil
            switch self.format {
            case .json: try StandardOutput.write(report.json(file: file).text() + "\n")
            case .text:
                StandardError.write(report.text(file: file))
                guard let pipeline = report.pipeline else { continue }
                try StandardOutput.write("\(file): valid\n\(pipeline.summary())")
            }
        }
        if !isValid { throw ExitStatus.pipelineInvalid.code }
    }
}
