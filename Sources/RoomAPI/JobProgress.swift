package import MediaTypes

/// Detects that an offline job makes no progress. A value without threads or clocks.
///
/// Counts checks, one per second, instead of measuring time: while the process or the machine is suspended, no checks
/// are made.
package struct JobProgress: Sendable {
    /// Counters that change while media is produced.
    package struct Marks: Sendable, Hashable {
        /// The current tick of the program; ``audio`` is the position up to which its audio is mixed, in sample pairs.
        package var tick: Int64
        package var audio: Int64
        /// Number of packets of all sources that were passed to the decoders or skipped by them.
        package var decoded: Int64
        /// Time of the last encoded packet, or any other number that changes with each packet.
        package var coded: Int64

        package init(tick: Int64, audio: Int64, decoded: Int64, coded: Int64) {
            self.tick = tick
            self.audio = audio
            self.decoded = decoded
            self.coded = coded
        }
    }

    /// What a job that makes no progress is waiting for.
    package enum Wait: Sendable, Hashable {
        /// Writes to the output directory do not complete. The value is its path.
        case store(String)
        /// No data can be read from these files.
        case files([String])
        /// No file or directory: the stages of the worker wait for each other.
        case itself
    }

    /// Number of checks without any progress after which the job counts as stalled.
    package static let limit = 10

    private var last: Marks?
    private var still = 0

    package init() {}

    /// Compares the counters with those of the previous check.
    ///
    /// - Returns: Whether they have not changed for ``limit`` checks.
    package mutating func looked(_ marks: Marks) -> Bool {
        self.still = marks == self.last ? self.still + 1 : 0
        self.last = marks
        return self.still >= Self.limit
    }

    /// The error with which a stalled job ends.
    package static func error(_ wait: Wait, tick: Int64) -> MediaError {
        let still = "the job has made no progress for \(Self.limit) seconds, since frame \(tick)"
        return switch wait {
        case .store(let directory):
            MediaError(
                .outputLost, "\(still): writes to \(directory) do not complete", at: "hls",
                fix: "restore the storage of the directory, and run the job again")
        case .files(let paths):
            MediaError(
                .notReadable, "\(still): nothing can be read from \(paths.joined(separator: ", "))", at: "program",
                fix: "restore the file's storage, or copy the file to a local disk, and run the job again")
        case .itself:
            MediaError(
                .internal, "\(still): its stages wait for each other", at: "program",
                fix: "report this with the pipeline file and the sources")
        }
    }
}
