import Libc
package import MediaTypes
package import PipelineSpec
import Threading

extension ResourceGrants {
    /// The files and environment variables that requests may use: those named in `documents`, and files in the
    /// directories that the operator has opened to requests. Requests may also use the default directory of recordings.
    package init(_ documents: [JSONNode], in control: Pipeline.Control) {
        self.init(documents) { resource in
            switch resource.use {
            case .variable: false
            case .recordings: resource.name == Pipeline.SourceRecord().directory
            case .file: OperatorDirectory.isReadable(resource.name, in: control.secretsDirectory)
            case .media, .noiseModel: OperatorDirectory.holds(resource.name, in: control.mediaDirectory)
            case .image:
                OperatorDirectory.holds(resource.name, in: control.imagesDirectory)
                    || OperatorDirectory.holds(resource.name, in: control.secretsDirectory)
            }
        }
    }
}

/// Checks whether a file lies in a directory whose files API requests may name.
package enum OperatorDirectory {
    /// Largest size of a secret file, in bytes.
    private static let longestSecret = 4_095

    /// Whether a file exists and lies in the directory, both by its path and after links are resolved. False if
    /// `directory` is nil.
    ///
    /// The path must start with the directory as the pipeline file writes it, and must not contain `.`, `..` or empty
    /// components. Then only users who may write in the directory decide which file it leads to.
    package static func holds(_ path: String, in directory: String?) -> Bool {
        guard var directory, !path.utf8.contains(0) else { return false }
        while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
        let prefix = directory == "/" ? "/" : directory + "/"
        guard path.hasPrefix(prefix) else { return false }
        let steps = path.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard !steps.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else { return false }
        guard let root = self.resolved(directory), let file = self.resolved(path) else { return false }
        return file.hasPrefix(root == "/" ? "/" : root + "/")
    }

    /// Whether a file lies in the directory and can be read as a secret: a regular file of 1 to 4095 bytes.
    package static func isReadable(_ path: String, in directory: String?) -> Bool {
        guard self.holds(path, in: directory) else { return false }
        do throws(FileReading.Failure) {
            return try !FileReading.regular(path, limit: Self.longestSecret).isEmpty
        } catch {
            return false
        }
    }

    /// The absolute path without links, `.` and `..`; nil if the file does not exist.
    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
