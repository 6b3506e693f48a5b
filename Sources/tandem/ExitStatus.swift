import ArgumentParser
import MediaTypes

/// The exit codes for orchestrators; from sysexits.h where it defines a suitable one.
enum ExitStatus: Int32 {
    case roomOver = 0
    case usage = 64
    case pipelineInvalid = 65
    case fileMissing = 66
    case unavailable = 69
    case bug = 70
    case cannotCreate = 73
    case outputLost = 74
    /// The room has ended, but some of its work is not done, such as uploads. A worker that is started again finishes
    /// it.
    case unfinished = 75
    case impossibleHere = 78
    case interruptedTwice = 130
    case drained = 143

    var code: ExitCode { ExitCode(self.rawValue) }

    /// Returns the error code for an error that ends the worker: `configInvalid` if it exits with 65, otherwise its own
    /// code.
    static func word(_ error: MediaError) -> String {
        ExitStatus(error) == .pipelineInvalid ? ErrorCode.configInvalid.rawValue : error.code.description
    }

    init(_ error: MediaError) {
        switch error.code {
        case .notReadable: self = .fileMissing
        case .bindFailed: self = .unavailable
        case .notCreatable, .roomExited: self = .cannotCreate
        case .outputLost, .diskFull: self = .outputLost
        case .unfinished: self = .unfinished
        case .unavailable: self = .impossibleHere
        case .invalidData, .rejected: self = .pipelineInvalid
        case .superseded: self = .drained
        case .outOfMemory: self = .unavailable
        default: self = .bug
        }
    }
}
