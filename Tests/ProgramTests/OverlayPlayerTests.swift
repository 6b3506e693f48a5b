import LibAV
import MediaTypes
import Program
import Testing

@Suite("Overlays: reports of plays")
struct OverlayPlayerTests {
    @Test("overlay plays that overload drops are reported, those that had a start tick with that tick")
    func dropped() throws {
        let player = OverlayPlayer(fps: 30, sampleRate: 48_000)
        let request = OverlayRequest(
            name: "rose", path: "/none/rose.webm", alpha: .own, box: PixelRect(x: 0, y: 0, width: 64, height: 64),
            loops: 1, volume: 1)
        for _ in 1...5 { _ = try player.play(request, at: 100) }
        player.setPaused(true, at: 101)
        let reports = player.takeReports()
        #expect(reports.map(\.id) == [1, 2, 3, 4, 5])
        #expect(reports.map(\.planned) == [115, 115, 115, 115, nil], "the fifth play waited")
        #expect(reports.allSatisfy { $0.event == .overload && $0.tick == nil })
        #expect(throws: OverlayLineup.Refusal.paused) { try player.play(request, at: 102) }
    }
}
