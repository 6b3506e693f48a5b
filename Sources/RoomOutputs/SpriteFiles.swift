package import Packager

/// What viewers may have of the sheets of an image output.
package struct SpriteFiles: Sendable {
    let store: DirectoryStore
    let indexName: String
    /// Seconds.
    let interval: Int
    /// Sheets and their sizes in bytes.
    var files: [String: Int] = [:]
    /// The index; empty before the first.
    var text: [UInt8] = []

    package func object(named name: String) -> PublishedObject? {
        let caching = "max-age=\(self.interval)"
        if name == self.indexName, !self.text.isEmpty {
            return PublishedObject(body: .bytes(self.text), contentType: "text/vtt", cacheControl: caching)
        }
        guard let size = self.files[name], let path = self.store.path(of: name) else { return nil }
        return PublishedObject(
            body: .file(path: path, size: size), contentType: "image/jpeg", cacheControl: caching)
    }
}
