import PipelineSpec
import Stages
import Synchronization

/// Some files of secrets: whether others have taken their place.
final class SecretFiles: Sendable {
    private let marks = Mutex<[String: FileMark?]>([:])

    /// Since the last call. A file that was not asked for then has not changed: whoever names it anew reads it.
    func haveChanged(_ secrets: [Secret?]) -> Bool {
        var now: [String: FileMark?] = [:]
        for case .file(let path)? in secrets { now.updateValue(FileMark(path: path), forKey: path) }
        return self.marks.withLock { marks in
            defer { marks = now }
            return now.contains { path, mark in marks[path].map { $0 != mark } ?? false }
        }
    }
}
