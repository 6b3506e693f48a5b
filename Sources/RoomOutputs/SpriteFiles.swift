package import Packager

/// The thumbnail sheets of an image output that viewers can request.
package struct SpriteFiles: Sendable {
    let store: DirectoryStore
    let indexName: String
    /// Time between two thumbnails, in seconds.
    let interval: Int
    /// File names of the sheets with their sizes in bytes.
    var files: [String: Int] = [:]
    /// Content of the WebVTT index; empty before the first sheet.
    var text: [UInt8] = []

    /// The index or a sheet, as the viewers' listener serves it; nil for other names.
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
