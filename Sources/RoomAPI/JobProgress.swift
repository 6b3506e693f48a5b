package import MediaTypes

/// Whether an offline job gets on: a value without threads or clocks.
///
/// It counts looks, one a second, and not time: a process that was stopped, or a machine that slept, looks again only when it
/// goes on.
package struct JobProgress: Sendable {
    /// What moves while media is made.
    package struct Marks: Sendable, Hashable {
        /// The tick the program is at, and the sample position its audio has been mixed to.
        package var tick: Int64
        package var audio: Int64
        /// Packets of all sources that were decoded.
        package var decoded: Int64
        /// When the last coded packet came to the output; any number that changes with each.
        package var coded: Int64

        package init(tick: Int64, audio: Int64, decoded: Int64, coded: Int64) {
            self.tick = tick
            self.audio = audio
            self.decoded = decoded
            self.coded = coded
        }
    }

    /// What a job that does not get on waits for.
    package enum Wait: Sendable, Hashable {
        /// The output's directory takes nothing.
        case store(String)
        /// These files give nothing.
        case files([String])
        /// Nothing outside of the worker.
        case itself
    }

    /// Looks without any movement after which a job does not get on.
    package static let limit = 10

    private var last: Marks?
    private var still = 0

    package init() {}

    /// - Returns: Whether nothing has moved for ``limit`` looks.
    package mutating func looked(_ marks: Marks) -> Bool {
        self.still = marks == self.last ? self.still + 1 : 0
        self.last = marks
        return self.still >= Self.limit
    }

    /// Why the job ends.
    package static func error(_ wait: Wait, tick: Int64) -> MediaError {
        let still = "the job has made nothing for \(Self.limit) seconds, since frame \(tick)"
        return switch wait {
        case .store(let directory):
            MediaError(
                .outputLost, "\(still): \(directory) does not take what is written", at: "hls",
                fix: "restore the directory, and run the job again")
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
