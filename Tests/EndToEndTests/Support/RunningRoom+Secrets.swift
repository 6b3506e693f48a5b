import Foundation
import Testing

/// Secrets that must not appear in any output of a room: the stream keys, passphrases and secrets of a test.
///
/// Short keys, which tests use, are made longer on their way into the room, so that they can be searched for.
final class SecretWatch: @unchecked Sendable {
    // @unchecked Sendable: `lock` guards all mutable state.

    /// Suffix added to short keys.
    private static let suffix = "-5ecret7f31c0"
    private static let shortest = 8

    private let lock = NSLock()
    private var secrets: Set<String> = []
    private var replies: [String] = []
    private var isChecked = false
    /// Directories the room writes to.
    private let directories: [String]

    /// - Returns: The pipeline with long keys, as the room gets it.
    static func hiding(in pipeline: String) -> String {
        self.replacing(#"("streamKey"\s*:\s*")([^"]*)""#, in: pipeline) { Self.long($0) }
    }

    /// The key with a suffix if it has fewer than eight bytes.
    static func long(_ key: String) -> String { key.utf8.count < self.shortest ? key + self.suffix : key }

    /// - Parameters:
    ///   - pipeline: As the room gets it.
    ///   - environment: Environment variables of the room.
    init(_ pipeline: String, environment: [String: String]) {
        for word in ["streamKey", "url"] {
            for text in Self.matches(#""\#(word)"\s*:\s*"([^"]*)""#, in: pipeline) {
                // In a URL, the stream id and passphrase, and for RTMP the part after the last slash.
                if word == "streamKey" {
                    self.secrets.insert(text)
                } else {
                    self.secrets.formUnion(Self.secrets(of: text))
                }
            }
        }
        for (name, value) in environment
        where ["KEY", "SECRET", "TOKEN", "PASSPHRASE", "URL"].contains(where: { name.uppercased().contains($0) }) {
            for line in value.split(separator: "\n").map(String.init) {
                if line.contains("://") {
                    self.secrets.formUnion(Self.secrets(of: line))
                } else {
                    self.secrets.insert(line)
                }
            }
        }
        for file in Self.matches(
            #""[a-zA-Z]*(?:[sS]ecret|[pP]assphrase|[tT]oken|[kK]ey)File"\s*:\s*"([^"]*)""#, in: pipeline)
        {
            let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            self.secrets.formUnion(text.split(separator: "\n").map(String.init))
        }
        self.directories = Self.matches(#""path"\s*:\s*"(/[^"]*)""#, in: pipeline)
    }

    private static func secrets(of address: String) -> [String] {
        var secrets: [String] = []
        let query = address.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        for item in query.split(separator: "&") where item.hasPrefix("streamid=") || item.hasPrefix("passphrase=") {
            secrets.append(String(item.split(separator: "=", maxSplits: 1).last ?? ""))
        }
        if address.lowercased().hasPrefix("rtmp"), let last = address.split(separator: "/").last, last != "clip" {
            secrets.append(String(last))
        }
        return secrets
    }

    /// Adds another secret: a wrong key, or a signature.
    func add(_ secret: String) { self.lock.withLock { _ = self.secrets.insert(secret) } }

    /// Records a reply of the room.
    func note(_ reply: String) { self.lock.withLock { self.replies.append(reply) } }

    /// Searches events, log, recorded replies and text files in the output directories for secrets of eight bytes or more,
    /// and records an issue for each. Only the first call does.
    func check(_ child: Child) {
        let (secrets, replies, isFirst) = self.lock.withLock { () -> ([String], [String], Bool) in
            defer { self.isChecked = true }
            return (self.secrets.filter { $0.utf8.count >= Self.shortest }.sorted(), self.replies, !self.isChecked)
        }
        guard isFirst, !secrets.isEmpty else { return }
        var said = ["its events": child.outputLines.joined(separator: "\n"), "its log": child.errors]
        said["its answers"] = replies.joined(separator: "\n")
        for directory in self.directories {
            for name in (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? [] where Self.isText(name)
            {
                let text = try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
                // URLs of outputs contain their key in this file, and nowhere else.
                said[name] =
                    name.contains("commands.json")
                    ? text.map { Self.replacing(#"("url"\s*:\s*")([^"]*)""#, in: $0) { _ in "" } } : text
            }
        }
        for (place, text) in said {
            for secret in secrets where text.contains(secret) {
                let line = text.split(separator: "\n").first { $0.contains(secret) } ?? ""
                Issue.record("a secret of this test is in \(place): \(line.prefix(600))")
            }
        }
    }

    private static func isText(_ name: String) -> Bool {
        ["json", "jsonl", "m3u8", "txt", "log", ""].contains((name as NSString).pathExtension)
    }

    // MARK: Text

    private static func matches(_ pattern: String, in text: String) -> [String] {
        guard let expression = try? NSRegularExpression(pattern: pattern) else { return [] }
        let whole = NSRange(text.startIndex..., in: text)
        return expression.matches(in: text, range: whole).compactMap { match in
            Range(match.range(at: 1), in: text).map { String(text[$0]) }
        }
    }

    /// - Parameter pattern: Has two groups: text to keep, and text up to a closing quotation mark that `change`
    ///   replaces.
    private static func replacing(_ pattern: String, in text: String, _ change: (String) -> String) -> String {
        guard let expression = try? NSRegularExpression(pattern: pattern) else { return text }
        var text = text
        for match in expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).reversed() {
            guard let range = Range(match.range(at: 2), in: text) else { continue }
            text.replaceSubrange(range, with: change(String(text[range])))
        }
        return text
    }
}
