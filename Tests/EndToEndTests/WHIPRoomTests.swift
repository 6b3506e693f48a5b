import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("WHIP publishers beside an RTMP publisher")
    struct WHIPRoomTests {
        /// Greatest time between the POST and the frame on air, in seconds, without the jitter buffer.
        private static let onAir = 1.0

        @Test(
            "a WHIP publisher (aiortc) is on air in 1 s plus jitter buffer, in sync and whole; takeover, DELETE and kill -9 are told apart"
        )
        func aiortc() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let room = try RunningRoom(
                Rooms.withWHIP(
                    Rooms.live(work.path("out"), renditions: Rooms.medium, canvas: (640, 360), scene: "pk")))
            let whip = try room.whip
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
            try room.event("source.live", uid: "1001")

            let first = try AiortcPublisher(whip, key: room.key("b"))
            try self.expectOnAir(first, room, from: 0, "H.264")
            Thread.sleep(forTimeInterval: 6)
            let before = try room.statistics("2002")
            self.expectWhole(before, "H.264")
            #expect(before.cipher == "AEAD_AES_128_GCM" && before.picture.hasPrefix("640x360"), "\(before)")

            // A second publisher with the same key takes over, and the first one's connection is closed.
            var mark = room.now
            let second = try AiortcPublisher(whip, key: room.key("b"), codec: "vp8")
            #expect(
                try room.event("ingest.publishing", uid: "2002", from: mark).line.contains("\"takeover\":true"))
            try first.message("closed")
            try self.expectOnAir(second, room, from: mark, "VP8")
            let taken = try room.statistics("2002").packets
            Thread.sleep(forTimeInterval: 4)
            mark = room.now
            second.send("delete")
            #expect(try second.message("deleted").integer("status") == 200)
            try room.event("ingest.unpublished", uid: "2002", from: mark, timeout: 3)
            let after = try room.statistics("2002")
            self.expectWhole(after, "VP8")
            // At 30 frames per second, in at least 4 s.
            expectTiming(after.packets - taken, atLeast: 110, "frames of VP8 in 4 s")
            #expect(room.events("ingest.lost").map { $0.text("reason") } == ["another connection took over"])

            mark = room.now
            let third = try AiortcPublisher(whip, key: room.key("b"))
            try room.event("source.live", uid: "2002", from: mark)
            mark = room.now
            let killed = Date().timeIntervalSince1970
            third.child.signal(SIGKILL)
            let stalled = try room.event("source.stalled", uid: "2002", from: mark, timeout: 8)
            let lost = try room.event("ingest.lost", uid: "2002", from: mark, timeout: 8)
            EndToEnd.report(
                String(
                    format: "after kill -9, source.stalled after %.2f s (bar: 1.5), ingest.lost after %.2f s (bar: 6)",
                    stalled.time - killed, lost.time - killed))
            expectTiming(stalled.time - killed, atMost: 1.5, "seconds from kill -9 to source.stalled")
            expectTiming(lost.time - killed, atMost: 6, "seconds from kill -9 to ingest.lost")

            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            expectOnTime(ticks, isLateAllowed: true)
            #expect(try room.end() == 0)
            anna.stop()
            try self.expectLipSync(work.path("out"), media)
        }

        /// Expects that most flashes and beeps of aiortc's pattern are together.
        private func expectLipSync(_ directory: String, _ media: Media) throws {
            // The upper half of the right pane.
            let flashes = try Flashes.onsets("\(directory)/360p.m3u8", "280:120:340:20", media)
            let beeps = try Tones("\(directory)/audio.m3u8", media).onsets(AiortcPublisher.hertz)
            let result = LipSyncResult(flashes: flashes, beeps: beeps)
            let offsets = result.offsets.map { abs($0) }.sorted()
            EndToEnd.report("lip-sync of aiortc: \(result) (bar: 20)")
            #expect(offsets.count >= 7)
            // Publishers may begin within a flash, so some pairs say nothing.
            expectTiming(offsets.isEmpty ? 0 : offsets[offsets.count / 2], atMost: 20, "ms of lip-sync, median")
        }

        /// Expects that a publisher is on air soon after its POST.
        private func expectOnAir(
            _ publisher: AiortcPublisher, _ room: RunningRoom, from mark: Int, _ name: String
        ) throws {
            let posted = try publisher.time("posted")
            // After a takeover the source stays live, so the first frame counts.
            let frame = try room.event("source.first_frame", uid: "2002", from: mark)
            let buffer = Double(try room.statistics("2002").bufferMs) / 1_000
            EndToEnd.report(
                String(
                    format: "%@ of aiortc on air %.2f s after the POST, with %.2f s in the jitter buffer", name,
                    frame.time - posted, buffer))
            expectTiming(
                frame.time - posted, atMost: Self.onAir + buffer, "seconds from the POST to the first frame of \(name)")
        }

        private func expectWhole(_ counters: SourceCounters, _ name: String) {
            expectTiming(counters.damagedFrames, atMost: 0, "frames of \(name) with missing packets")
            expectTiming(counters.damaged, atMost: 0, "packets of \(name) that could not be decoded")
        }
    }
}
