import Libc
package import MediaTypes
package import PipelineSpec
import Threading

extension ResourceGrants {
    /// The grants of `documents`, and the files in the directories that the operator lets requests use.
    package init(_ documents: [JSONNode], in control: Pipeline.Control) {
        self.init(documents) { resource in
            switch resource.use {
            case .variable: false
            case .file: OperatorDirectory.isReadable(resource.name, in: control.secretsDirectory)
            case .image:
                OperatorDirectory.holds(resource.name, in: control.imagesDirectory)
                    || OperatorDirectory.holds(resource.name, in: control.secretsDirectory)
            }
        }
    }
}

/// A directory whose files requests may name.
package enum OperatorDirectory {
    /// Most bytes of a file that holds a secret.
    private static let longestSecret = 4_095

    /// Whether there is such a file, and it lies in the directory as it is written and where its links lead.
    ///
    /// The path must begin with the directory's as the pipeline file writes it, and must not go back up: then only those who may
    /// write in the directory decide what it leads to.
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

    /// The same for a file that can be read as a secret.
    package static func isReadable(_ path: String, in directory: String?) -> Bool {
        guard self.holds(path, in: directory) else { return false }
        do throws(FileReading.Failure) {
            return try !FileReading.regular(path, limit: Self.longestSecret).isEmpty
        } catch {
            return false
        }
    }

    /// The path without links, `.` and `..`.
    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
