import Glibc
import PublishEdge
import Testing

/// A key directory for one test.
struct TemporaryKeys {
    let path: String

    init() throws {
        var template = Array("/tmp/tandem-keys-XXXXXX".utf8CString)
        self.path = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    /// Writes the file of a path such as `live/key`.
    func write(_ text: String, for key: String) throws {
        let file = try #require(fopen("\(self.path)/\(KeyDirectory.name(of: key))", "w"))
        fputs(text, file)
        fclose(file)
    }

    func delete(_ key: String) { unlink("\(self.path)/\(KeyDirectory.name(of: key))") }

    /// Removes the directory with the files that ``write(_:for:)`` made for these paths.
    func remove(_ keys: [String] = ["live/key", "live/"]) {
        for key in keys { self.delete(key) }
        rmdir(self.path)
    }
}
