import Foundation
import HTTPListener
import HTTPTypes
import MediaTypes
import TestSupport
import Testing

import Control

@Suite("The header of the operator page")
struct PageHeaderTests {
    /// The part of the header about a disk.
    private struct Shown: Decodable, Equatable {
        var tone: String
        var text: String
        var title: String
    }

    /// Calls `showHeader` with each disk on standard input, and prints what the header shows; null for nothing.
    private static let script = """
        const made = new Map();
        function element() {
          const parts = new Map();
          return { dataset: {}, style: { setProperty() {} }, classList: { toggle() {} }, textContent: "", title: "", hidden: false,
            get parentElement() { return this; },
            querySelector: (name) => parts.get(name) || parts.set(name, element()).get(name) };
        }
        globalThis.document = { title: "", getElementById: (id) => made.get(id) || made.set(id, element()).get(id) };
        const [page, disks] = require("fs").readFileSync(0, "utf8").split("\\0");
        (0, eval)(page);
        console.log(JSON.stringify(JSON.parse(disks).map((disk) => {
          showHeader({ roomId: "1", revision: 1, state: "live", canvas: { width: 1, height: 1, fps: 1 },
            program: { scene: "solo", level: null }, ticks: { frames: 1, late: 0, lost: 0 }, disk });
          const pill = document.getElementById("disk");
          return pill.hidden ? null : { tone: pill.dataset.tone, text: pill.querySelector("b").textContent, title: pill.title };
        })));
        """

    /// The page's functions, as the control API serves them.
    private static func page() -> String {
        let responder = ControlResponder(
            room: FakeRoom(), guardian: AccessGuard(listen: .unix(path: "/a"), token: nil))
        return [ControlPage.File.view, .console].map { file in
            let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: file.rawValue)
            guard case .bytes(let bytes, let range) = responder.reply(to: ListenerRequest(head: head)).body else {
                return ""
            }
            return String(decoding: bytes[range], as: UTF8.self)
        }.joined()
    }

    private static func show(_ disks: String) throws -> [Shown?] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try TestTool.require("node"))
        process.arguments = ["-e", Self.script]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("\(Self.page())\0\(disks)".utf8))
        try input.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode([Shown?].self, from: text)
    }

    @Test(
        "the page's header shows a disk's free bytes and its message at levels alert_2 and alert_3, and nothing at level normal"
    )
    func disk() throws {
        func disk(_ level: String, _ message: String) -> String {
            #"""
            { "level": "\#(level)", "percent": 96, "usedBytes": 24, "maxBytes": 25, "path": "/live", "freeBytes": 41200000,
              "stopped": ["recording", "clips"], "message": "\#(message)" }
            """#
        }
        let low = "/live: 41200000 bytes are free of 1000000000"
        // The message in the state, as in DiskGuardTests.
        let full = "\(low); the recording is suspended, no clips are made"
        let shown = try Self.show(
            "[null, \(disk("normal", low)), \(disk("alert_2", low)), \(disk("alert_3", full)), null]")
        let text = "Disk: 41.2 MB free"
        #expect(
            shown == [
                nil, nil, Shown(tone: "warn", text: text, title: low), Shown(tone: "bad", text: text, title: full), nil,
            ])
    }
}
