import PipelineSpec
import Threading

/// Files of secrets that are used for the same thing: whether others have taken their place.
struct SecretFiles: Sendable {
    private var marks: [String: FileVersion?] = [:]

    /// Whether a file has changed since the last call. A file that was not named in the last
    /// call counts as unchanged, since the command that names it reads it.
    mutating func haveChanged(_ secrets: [Secret?]) -> Bool {
        var now: [String: FileVersion?] = [:]
        for case .file(let path)? in secrets { now.updateValue(FileVersion(path: path), forKey: path) }
        defer { self.marks = now }
        return now.contains { path, mark in self.marks[path].map { $0 != mark } ?? false }
    }
}
