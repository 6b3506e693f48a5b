import Foundation
import PipelineSpec
import Secrets
import Testing

import Push
import Room
import RoomOutputs

@Suite("Files in an operator's directory that requests may name")
struct OperatorDirectoryTests {
    @Test(
        "a file in the operator's directory is readable, also through links inside it; a path or link out of it is not"
    )
    func holds() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: base) }
        let (given, other) = ("\(base)/given", "\(base)/given-other")
        for path in ["\(given)/..2026", "\(given)/deep", other] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        for path in ["\(given)/key", "\(given)/..2026/mounted", "\(given)/deep/key", "\(other)/key", "\(base)/key"] {
            try Data("k3y\n".utf8).write(to: URL(fileURLWithPath: path))
        }
        try Data().write(to: URL(fileURLWithPath: "\(given)/empty"))
        try Data(repeating: 0x61, count: 5_000).write(to: URL(fileURLWithPath: "\(given)/long"))
        for (link, target) in [
            ("\(given)/..data", "..2026"), ("\(given)/mounted", "..data/mounted"), ("\(given)/out", "../key"),
            ("\(given)/up", "/"), ("\(given)/shadow", "/etc/shadow"), ("\(base)/alias", "given"),
            ("\(given)/loop", "loop"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        }
        for (name, isHeld) in [
            ("key", true), ("mounted", true), ("deep/key", true), ("missing", false), ("out", false), ("shadow", false),
            ("loop", false), ("", false), ("../key", false), ("deep/../key", false), ("./key", false),
            ("deep//key", false),
            ("../given/key", false), ("../given-other/key", false), ("up/etc/passwd", false), ("key\u{0}x", false),
            ("deep", false), ("empty", false), ("long", false),
        ] {
            #expect(OperatorDirectory.isReadable("\(given)/\(name)", in: given) == isHeld, "\(name)")
        }
        #expect(OperatorDirectory.isReadable("\(given)/key", in: given + "/"))
        #expect(!OperatorDirectory.isReadable("\(given)/key", in: nil))
        #expect(!OperatorDirectory.isReadable("\(given)-other/key", in: given), "the name is longer")
        #expect(!OperatorDirectory.isReadable("\(base)/alias/key", in: given), "as the pipeline file writes it")
        #expect(OperatorDirectory.isReadable("\(base)/alias/key", in: "\(base)/alias"))
        #expect(!OperatorDirectory.isReadable("key", in: given))
    }

    @Test(
        "an RTMP output's key file must be one line of 1 to 256 printable ASCII characters; other content is refused",
        arguments: [
            ("k3y-of_the.cdn?x=1", true), (String(repeating: "a", count: 256), true),
            (String(repeating: "a", count: 257), false), ("root:*:19000:0\ndaemon:*:19000", false), ("a b", false),
            ("ключ", false), ("a\u{7f}", false), ("a\tb", false), ("a\r\rb", false),
        ])
    func keys(text: String, isKey: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data((text + "\n").utf8).write(to: URL(fileURLWithPath: path))
        var output = RTMPOutput()
        output.urlText = "rtmp://cdn.example/live"
        output.key = .file(path)
        do {
            let settings = try output.settings(rendition: "720p", bitrate: 1_000_000)
            #expect(isKey && settings.core.url.streamName == text)
        } catch {
            #expect(
                !isKey && error.what == "the key is not one line of 1 to 256 printable ASCII characters", "\(error)")
        }
    }
}
