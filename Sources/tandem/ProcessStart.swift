import ArgumentParser
import LibAV
import MediaTypes
import NIOCore
import PipelineSpec
import CapacityPlan
import Room
import Libc

/// Process-wide setup before a command begins.
enum ProcessStart {
    /// Environment variable that enables core dumps. They are disabled otherwise, because they contain stream keys and
    /// tokens.
    private static let coreDumps = "TANDEM_CORE_DUMPS"

    /// Disables core dumps unless the environment enables them.
    static func begin() {
        if getenv(self.coreDumps).map({ String(cString: $0) }) != "1" { LibAV.disableCoreDumps() }
    }

    /// Raises the limit of open files, and returns why this process cannot run the room; `nil` if its resource limits
    /// are sufficient.
    static func refusal(of pipeline: Pipeline) -> MediaError? {
        let memory = CostModel().cost(of: pipeline).memoryBytes
        return ProcessLimits.ofThisProcess(openFiles: LibAV.raiseOpenFiles())
            .refusal(.room(cores: System.coreCount, memory: memory))
    }

    /// Raises the limit of open files for a command that connects to a server.
    ///
    /// - Throws: `ExitCode` 78, after writing the reason, if the limit of open files is too low for a command that
    ///   connects to a server.
    static func checkClient() throws {
        let limits = ProcessLimits.ofThisProcess(openFiles: LibAV.raiseOpenFiles())
        guard let refusal = limits.refusal(.client(cores: System.coreCount)) else { return }
        StandardError.write("\(refusal)\n")
        throw ExitStatus.impossibleHere.code
    }
}
