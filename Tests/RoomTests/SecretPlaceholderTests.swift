import Foundation
import MediaTypes
import PipelineSpec
import Room
import RoomSources
import Secrets
import Testing

@Suite("Secret files with placeholders or equal stream keys")
struct SecretPlaceholderTests {
    private static func file(_ text: String) throws -> (directory: String, path: String) {
        let directory = NSTemporaryDirectory() + "placeholder-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/secret"))
        return (directory, "\(directory)/secret")
    }

    private static func refusal<Value>(_ body: () throws(MediaError) -> Value) -> MediaError? {
        do throws(MediaError) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "a secret file with a placeholder is refused with its path, without printing the content",
        arguments: [
            "REPLACE-ME", "REPLACE-ME\n", " replace-me ", "key-1\nREPLACE-ME", "CHANGEME", "https://a/?REPLACE-ME",
        ])
    func placeholders(text: String) throws {
        let (directory, path) = try Self.file(text)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let error = try #require(
            Self.refusal { () throws(MediaError) in try Secret.file(path).resolved(place: "source[1001]") })
        #expect(error.code == .rejected)
        #expect(error.place == "source[1001]" && error.what.contains("placeholder") && error.what.contains(path))
        #expect(!"\(error)".uppercased().contains("REPLACE-ME"))
    }

    @Test(
        "a secret that only resembles a placeholder is accepted",
        arguments: ["replaced-meanwhile", "changeme-7fd1a", "a_7fd1"])
    func secrets(text: String) throws {
        let (directory, path) = try Self.file(text)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(try Secret.file(path).resolved(place: "source") == text)
    }

    @Test(
        "two sources with the same stream key in files are refused by name; the same key twice for one source is accepted"
    )
    func equalKeys() throws {
        let (first, one) = try Self.file("alpha\nsame-key\n")
        let (second, other) = try Self.file("same-key\n")
        defer { for path in [first, second] { try? FileManager.default.removeItem(atPath: path) } }
        func pipeline(_ keys: [[Secret]]) -> Pipeline {
            let sources = keys.enumerated().map { index, keys in
                Pipeline.Source(SourceID("100\(index)"), .rtmp(streamKeys: keys))
            }
            return Pipeline(room: Pipeline.Room(roomID: "r"), sources: sources, scenes: [], outputs: [])
        }
        let error = try #require(
            Self.refusal { () throws(MediaError) in try pipeline([[.file(one)], [.file(other)]]).streamKeys() })
        #expect(error.code == .rejected)
        #expect("\(error)".contains("source[1000]") && "\(error)".contains("source[1001]"), "\(error)")
        #expect(!"\(error)".contains("same-key"))
        #expect(try pipeline([[.file(one), .file(other)], [.inline("beta")]]).streamKeys().count == 4)
    }
}
