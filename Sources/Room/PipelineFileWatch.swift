package import Control
import Threading

/// Follows the pipeline file of a running room: another version of it is handed on once, and what is wrong with it told once.
///
/// The file is known by what links lead to, so that a Kubernetes ConfigMap, which turns a link (`..data`), is seen to change.
/// States: *taken* (the room runs by it) → *doubtful* (this version is refused; it may be half of one that is being written) →
/// *refused*, or → *early* (it fits only later, and is tried again, after ever more looks); from each, a version that is taken →
/// taken. The thread that has the watch calls ``look(isTold:)``.
package struct PipelineFileWatch: Sendable {
    /// What ``FileVersion`` says; `nil` if there is no file.
    private struct Seen: Equatable { let mark: FileVersion? }

    private struct State {
        /// The version that was taken last.
        var bytes: [UInt8]
        var seen: Seen?
        var doubtful: Seen?
        var early: Early?
        var refusal: ControlFailure?
    }

    /// A version that comes too early.
    private struct Early {
        let seen: Seen
        /// Looks from one attempt to the next.
        var pace = 1
        /// Looks until the next attempt, less one.
        var wait = 0

        /// It was tried in vain. To judge a version reads all it names, under the lock that commands wait for.
        mutating func failed() {
            self.pace = min(PipelineFileWatch.longestPace, self.pace * 2)
            self.wait = self.pace - 1
        }
    }

    /// Looks between two attempts with a version that comes too early: about five seconds.
    private static let longestPace = 5
    /// A pipeline file larger than this is not one.
    private static let limit = 4 << 20

    package let path: String
    private let take: @Sendable ([UInt8]) throws(ControlFailure) -> Void
    private let report: @Sendable (ControlFailure?) -> Void
    private var state: State

    /// - Parameters:
    ///   - bytes: What the room was made from.
    ///   - take: Gets another version; throws what is wrong with it.
    ///   - report: Gets why the file is refused, and `nil` when it is not any more.
    package init(
        _ path: String, bytes: [UInt8], take: @escaping @Sendable ([UInt8]) throws(ControlFailure) -> Void,
        report: @escaping @Sendable (ControlFailure?) -> Void
    ) {
        self.path = path
        self.take = take
        self.report = report
        self.state = State(bytes: bytes)
    }

    /// Hands the file on if it says something else than the version that was taken last.
    ///
    /// - Parameter isTold: Reads it even if it seems to be what it was, and says at once what is wrong with it.
    package mutating func look(isTold: Bool = false) {
        // Before it is read: what changes in between is seen by the next look.
        let seen = Seen(mark: FileVersion(path: self.path))
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
            // What fits only later, such as when a scene is on air, is tried again until it does.
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
                self.state.early = Early(seen: seen)
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
                "the pipeline file \(error.text)", fix: "put the file back; the room runs by the one it has")
        }
    }
}
