import PipelineSpec
import Stages
import Synchronization

/// The files of the operators' tokens: whether another one has taken their place.
final class TokenFiles: Sendable {
    private let paths: [String]
    private let marks: Mutex<[FileMark?]>

    init(_ control: Pipeline.Control) {
        self.paths = [control.token, control.readToken].compactMap { secret in
            if case .file(let path)? = secret { path } else { nil }
        }
        self.marks = Mutex(self.paths.map { FileMark(path: $0) })
    }

    /// Since the last call, or the beginning.
    func haveChanged() -> Bool {
        let now = self.paths.map { FileMark(path: $0) }
        return self.marks.withLock { marks in
            defer { marks = now }
            return marks != now
        }
    }
}
