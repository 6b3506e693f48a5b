import LibAV
import MediaTypes
import Program
import Testing

@Suite("Overlays: which plays are on air and which wait")
struct OverlayLineupTests {
    private static func request(_ name: String = "rose") -> OverlayRequest {
        OverlayRequest(
            name: name, path: "rose.webm", alpha: .own, box: PixelRect(x: 0, y: 0, width: 64, height: 64),
            loops: 1,
            volume: 1)
    }

    @Test("four overlay plays start after the lead, sixteen more wait, and the next one is refused")
    func limits() throws {
        var lineup = OverlayLineup(lead: 15)
        for id in 1...4 {
            #expect(try lineup.play(Self.request(), at: 100) == .starts(id: Int64(id), tick: 115))
        }
        for position in 1...16 {
            #expect(
                try lineup.play(Self.request(), at: 100) == .waits(id: Int64(4 + position), position: position))
        }
        #expect(throws: OverlayLineup.Refusal.full) { try lineup.play(Self.request(), at: 100) }
        #expect(lineup.startWaiting(at: 110).isEmpty, "no play has ended")
        lineup.ended(2)
        #expect(lineup.startWaiting(at: 120) == [OverlayLineup.Start(id: 5, request: Self.request(), tick: 135)])
        #expect(try lineup.play(Self.request(), at: 121) == .waits(id: 21, position: 16))
    }

    @Test("an overlay play never overtakes one that waits, even if fewer than four are on air")
    func order() throws {
        var lineup = OverlayLineup(lead: 1)
        for _ in 1...5 { _ = try lineup.play(Self.request(), at: 0) }
        lineup.ended(1)
        #expect(try lineup.play(Self.request(), at: 1) == .waits(id: 6, position: 2))
        #expect(lineup.startWaiting(at: 2).map(\.id) == [5])
    }

    @Test(
        "overload drops all overlay plays and refuses new ones until it is over; the end of the program does so permanently"
    )
    func drops() throws {
        var lineup = OverlayLineup(lead: 1)
        for _ in 1...6 { _ = try lineup.play(Self.request("gift"), at: 0) }
        #expect(lineup.setPaused(true).map(\.id) == [5, 6])
        #expect(lineup.isEmpty && !lineup.isActive(1))
        #expect(throws: OverlayLineup.Refusal.paused) { try lineup.play(Self.request(), at: 1) }
        #expect(lineup.setPaused(false).isEmpty)
        #expect(try lineup.play(Self.request(), at: 2) == .starts(id: 7, tick: 3))
        #expect(lineup.close().isEmpty && lineup.isEmpty)
        #expect(throws: OverlayLineup.Refusal.closed) { try lineup.play(Self.request(), at: 4) }
    }

    @Test(
        "an animation is fitted into its box with even edges",
        arguments: [
            (1080, 1920, PixelRect(x: 438, y: 0, width: 404, height: 720)),
            (320, 240, PixelRect(x: 160, y: 0, width: 960, height: 720)),
            (4000, 10, PixelRect(x: 0, y: 358, width: 1280, height: 2)),
            (1, 1, PixelRect(x: 280, y: 0, width: 720, height: 720)),
            (0, 0, PixelRect(x: 0, y: 0, width: 1280, height: 720)),
        ])
    func fits(width: Int, height: Int, place: PixelRect) {
        let box = PixelRect(x: 0, y: 0, width: 1280, height: 720)
        #expect(box.fitting(width: width, height: height) == place)
    }
}
