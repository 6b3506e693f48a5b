import Foundation
import Testing

/// Compares text with the file under `Golden/`. If it differs, the text is written beside it as `.actual`;
/// `UPDATE_GOLDEN=1` accepts the new text.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden/\(name)")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
        try Data(text.utf8).write(to: file)
        return
    }
    let expected = try? String(decoding: Data(contentsOf: file), as: UTF8.self)
    if expected != text { try Data(text.utf8).write(to: file.appendingPathExtension("actual")) }
    #expect(expected == text, "differs from Golden/\(name); see \(name).actual", sourceLocation: sourceLocation)
}

/// Compares text with a file of the project, by its path from the root; `UPDATE_GOLDEN=1` accepts the new text.
func expectSame(_ text: String, asFile path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    let file = root.appendingPathComponent(path)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
        try Data(text.utf8).write(to: file)
        return
    }
    #expect(try String(decoding: Data(contentsOf: file), as: UTF8.self) == text, sourceLocation: sourceLocation)
}
