import Testing

@Suite("The header of the operator page")
struct PageHeaderTests {
    /// The part of the header about a disk.
    private struct Shown: Decodable, Equatable {
        var tone: String
        var text: String
        var title: String
    }

    /// Calls `showHeader` with each disk, and prints what the header shows; null for nothing.
    private static let script = """
        import { showHeader } from "./header.js";
        console.log(JSON.stringify(input.map((disk) => {
          showHeader({ roomId: "1", revision: 1, state: "live", canvas: { width: 1, height: 1, fps: 1 },
            program: { scene: "solo", level: null }, ticks: { frames: 1, late: 0, lost: 0 }, disk });
          const pill = document.getElementById("disk");
          return pill.hidden ? null : { tone: pill.dataset.tone, text: pill.querySelector("b").textContent, title: pill.title };
        })));
        """

    @Test(
        "the operator page's header shows a disk's free bytes and its message at alert_2 and alert_3, and nothing at level normal"
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
        let shown: [Shown?] = try PageModules.run(
            Self.script,
            input: "[null, \(disk("normal", low)), \(disk("alert_2", low)), \(disk("alert_3", full)), null]")
        let text = "Disk: 41.2 MB free"
        #expect(
            shown == [
                nil, nil, Shown(tone: "warn", text: text, title: low), Shown(tone: "bad", text: text, title: full), nil,
            ])
    }
}
