import ArgumentParser
import LibAV
import MediaTypes
import NIOCore
import PipelineSpec
import Plan
import Room

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What is settled before a command begins.
enum ProcessStart {
    /// Asks for core dumps, which hold stream keys and tokens.
    private static let coreDumps = "TANDEM_CORE_DUMPS"

    /// Turns core dumps off unless the environment asks for them.
    static func begin() {
        if getenv(self.coreDumps).map({ String(cString: $0) }) != "1" { LibAV.disableCoreDumps() }
    }

    /// Why this process cannot run the room; `nil`: its limits allow it. Raises the limit of open files first.
    static func refusal(of pipeline: Pipeline) -> MediaError? {
        let memory = CostModel().cost(of: pipeline).memoryBytes
        return ProcessLimits.ofThisProcess(openFiles: LibAV.raiseOpenFiles())
            .refusal(.room(cores: System.coreCount, memory: memory))
    }

    /// - Throws: `ExitCode` 78, after the reason was written, if a command that asks a server cannot have its files.
    static func checkClient() throws {
        let limits = ProcessLimits.ofThisProcess(openFiles: LibAV.raiseOpenFiles())
        guard let refusal = limits.refusal(.client(cores: System.coreCount)) else { return }
        StandardError.write("\(refusal)\n")
        throw ExitStatus.impossibleHere.code
    }
}
