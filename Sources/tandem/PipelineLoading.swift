import ArgumentParser
import MediaTypes
import PipelineSpec
import Room
import Threading

/// Reads a pipeline file for a command, or reports all its mistakes and exits.
enum PipelineLoading {
    /// Reads and checks a pipeline file.
    ///
    /// - Throws: `ExitCode` 64, 65 or 66 after writing the reasons to standard error.
    static func load(_ file: String, set: [String]) throws -> Pipeline {
        try self.check(self.read(file), file: file, set: set).pipeline
    }

    /// Reads and checks a pipeline file, and returns its original bytes as well, for a room whose file can be replaced
    /// while it runs.
    static func document(
        _ file: String, set: [String]
    ) throws -> (pipeline: Pipeline, document: RoomDocument?, bytes: [UInt8]) {
        let bytes = try self.read(file)
        let (pipeline, overrides) = try self.check(bytes, file: file, set: set)
        return (pipeline, RoomDocument(bytes, overrides: overrides, pipeline: pipeline), bytes)
    }

    /// Checks the bytes of a pipeline file after applying the overrides of `--set`; reports all mistakes and exits if
    /// there are any.
    static func check(
        _ bytes: [UInt8], file: String, set: [String]
    ) throws -> (pipeline: Pipeline, overrides: [SpecOverride]) {
        var overrides: [SpecOverride] = []
        for argument in set {
            guard let override = SpecOverride(argument: argument) else {
                StandardError.write("--set \(argument): write it as path=value, such as sources[0].volume=50\n")
                throw ExitStatus.usage.code
            }
            overrides.append(override)
        }
        let report = Pipeline.parse(bytes, overrides: overrides, checks: RoomChecks.here(wall: Clocks.system.wall))
        StandardError.write(report.text(file: file))
        guard let pipeline = report.pipeline else {
            StandardError.write("\(file): this file cannot be used [\(ErrorCode.configInvalid.rawValue)]\n")
            throw ExitStatus.pipelineInvalid.code
        }
        return (pipeline, overrides)
    }

    static func read(_ file: String) throws -> [UInt8] {
        do {
            return try FileBytes.read(file)
        } catch {
            switch error {
            case .missing(let what):
                StandardError.write("\(what). Fix: check the path; - reads standard input. \(self.examples)\n")
            case .unreadable(let what):
                StandardError.write("\(what). Fix: check the path; - reads standard input\n")
            }
            throw ExitStatus.fileMissing.code
        }
    }

    /// Where the example pipelines are: a newcomer has none of their own yet.
    private static let examples =
        "Example pipelines are in pipelines/ of the source tree and in share/doc/tandem/examples/ of a package"
}
