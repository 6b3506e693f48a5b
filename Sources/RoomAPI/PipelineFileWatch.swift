package import Control
import Threading

/// Watches the pipeline file of a running room: applies each new version, or reports once why it is refused.
///
/// Symbolic links are followed, so a change of a Kubernetes ConfigMap, which replaces a link (`..data`), is detected.
/// States: *taken* (the room runs the version) → *doubtful* (the version is refused once; it may be only half written)
/// → *refused*, or → *early* (the version can only be applied later; it is reported, and tried again at growing
/// distances). From each state, a version that is accepted leads to taken. A polling thread calls ``look(isTold:)``.
package struct PipelineFileWatch: Sendable {
    /// The version of the file at one poll; nil if there is no file.
    private struct PolledVersion: Equatable { let mark: FileVersion? }

    private struct State {
        /// Content of the version that was accepted last.
        var bytes: [UInt8]
        var seen: PolledVersion?
        var doubtful: PolledVersion?
        var early: DeferredVersion?
        var refusal: ControlFailure?
    }

    /// A version that can only be applied later, for example when a scene has gone on air.
    private struct DeferredVersion {
        let seen: PolledVersion
        /// Number of polls from one attempt to apply the version to the next.
        var pace = 1
        /// Number of polls without an attempt before the next one that tries to apply the version.
        var wait = 0

        /// Records a failed attempt. Attempts become rarer because each reads all files that the version names, while
        /// commands wait.
        mutating func failed() {
            self.pace = min(PipelineFileWatch.longestPace, self.pace * 2)
            self.wait = self.pace - 1
        }
    }

    /// Largest distance of two attempts with a version that can only be applied later, in polls; about five seconds.
    private static let longestPace = 5
    /// Largest size of a pipeline file, in bytes.
    private static let limit = 4 << 20

    package let path: String
    private let take: @Sendable ([UInt8]) throws(ControlFailure) -> Void
    private let report: @Sendable (ControlFailure?) -> Void
    private var state: State

    /// - Parameters:
    ///   - bytes: Content of the file from which the room was made.
    ///   - take: Applies a new version, or throws what is wrong with it.
    ///   - report: Called with the reason if the file is refused, and with nil once it is accepted again.
    package init(
        _ path: String, bytes: [UInt8], take: @escaping @Sendable ([UInt8]) throws(ControlFailure) -> Void,
        report: @escaping @Sendable (ControlFailure?) -> Void
    ) {
        self.path = path
        self.take = take
        self.report = report
        self.state = State(bytes: bytes)
    }

    /// Polls the file, and passes it on if it differs from the version that was accepted last.
    ///
    /// - Parameter isTold: Whether the file is read even if it seems unchanged, and errors are reported at once.
    package mutating func look(isTold: Bool = false) {
        // Determined before the file is read, so that a change in between is detected by the next poll.
        let seen = PolledVersion(mark: FileVersion(path: self.path))
        guard isTold || seen != self.state.seen else { return }
        if !isTold, let early = self.state.early, early.seen == seen, early.wait > 0 {
            self.state.early?.wait -= 1
            return
        }
        do throws(ControlFailure) {
            let bytes = try self.read()
            if bytes != self.state.bytes { try self.take(bytes) }
            let wasRefused = self.state.refusal != nil
            self.state = State(bytes: bytes, seen: seen)
            if wasRefused { self.report(nil) }
        } catch {
            // A version that can only be applied later, such as when a scene is on air, is tried again until it is
            // accepted.
            let isEarly = error.status == 409 && error.code == "requestFailed"
            guard isTold || isEarly || self.state.doubtful == seen else {
                self.state.doubtful = seen
                return
            }
            if !isEarly {
                self.state.seen = seen
                self.state.early = nil
            } else if self.state.early?.seen == seen {
                self.state.early?.failed()
            } else {
                self.state.early = DeferredVersion(seen: seen)
            }
            guard isTold || self.state.refusal != error else { return }
            self.state.refusal = error
            self.report(error)
        }
    }

    private func read() throws(ControlFailure) -> [UInt8] {
        do throws(FileReading.Failure) {
            return try FileReading.regular(self.path, limit: Self.limit)
        } catch {
            throw .invalidFormat(
                "the pipeline file \(error.text)", fix: "restore the file; the room continues with its last version")
        }
    }
}
