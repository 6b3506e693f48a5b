import Foundation
import Glibc
import MediaKernels
import MediaTypes
import Testing

extension EndToEnd {
    /// Without `-re` ffmpeg sends a file as fast as the network accepts it.
    @Suite("A publisher faster than real time", .serialized)
    struct RacingTests {
        private static let seconds = 30
        /// Filler bytes in each frame: at 38 Mbit/s the kernel's buffers hold less than three seconds, which are lost
        /// when ffmpeg exits without reading all replies.
        private static let filler = 160_000

        @Test(
            "a file that ffmpeg pushes without -re is read and shown in real time after its first seconds; another publisher loses nothing"
        )
        func file() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try Self.write(work.path("clip.flv"))
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.live(directory, renditions: Rooms.large, scene: "pk"))
            let honest = try Publisher.pattern("BEN", to: room.url("b"))
            try room.event("source.live", uid: "2002")
            try room.segments(2)
            let before = try Self.counts(room, uid: "2002")
            let memory = Self.memory(room.child.pid)
            let racer = try Publisher(
                media.ffmpeg,
                ["-nostdin", "-v", "error", "-i", work.path("clip.flv"), "-c", "copy", "-f", "flv", room.url("a")])
            let began = try room.event("source.live", uid: "1001")
            var largest = memory
            let end = Date(timeIntervalSinceNow: 60)
            while Self.ends(room).isEmpty, Date() < end {
                largest = max(largest, Self.memory(room.child.pid))
                usleep(50_000)
            }
            let over = try #require(Self.ends(room).first)
            let after = try Self.counts(room, uid: "2002")
            // Media that was read ahead is shown to its end.
            try room.segments(2)
            #expect(try room.end() == 0)
            honest.stop()
            racer.stop()
            let took = over.time - began.time
            let decoded = try Decoded("\(directory)/720p.m3u8", [.left, .right], media)
            // Its first seconds are shown faster than real time, until it is detected: up to half a second counts as
            // even. Its last frame is held after its end.
            let all = decoded.panes[0].compactMap(\.counter)
            let begin = all.indices.first { start in
                start + 15 < all.count && (start..<start + 15).allSatisfy { all[$0 + 1] == all[$0] &+ 1 }
            }
            var counters = Array(all.dropFirst(begin ?? 0))
            #expect(begin.map { $0 < 8 * 30 } == true, "its start: \(begin ?? -1) frames")
            while counters.count > 1, counters[counters.count - 2] == counters[counters.count - 1] {
                counters.removeLast()
            }
            let (shown, good) = Self.steps(counters)
            let uneven = zip(counters, counters.dropFirst()).enumerated().filter { $0.element.1 != $0.element.0 &+ 1 }
                .map(\.offset)
            EndToEnd.report("uneven at \(uneven) of \(counters.count)")
            let (others, even) = Self.steps(decoded.panes[1].compactMap(\.counter))
            EndToEnd.report(
                String(
                    format:
                        "%d s of a file were read in %.1f s, %.0f MB above before; its counter advances in %d of %d steps, "
                        + "the other one's in %d of %d",
                    Self.seconds, took, largest - memory, good, shown, even, others))
            expectTiming(took, atLeast: Double(Self.seconds) - 12, "seconds in which the file was read")
            // The whole file is 144 MB.
            #expect(largest - memory < 90)
            #expect(shown > (Self.seconds - 15) * 30, "its start ends when it is detected")
            // From then on it runs in real time.
            expectTiming(Double(good), atLeast: 0.98 * Double(shown), "steps in which the counter advances")
            #expect(others > 20 * 30)
            expectTiming(Double(even), atLeast: 0.99 * Double(others), "steps in which the other counter advances")
            for name in ["damaged", "reconnects"] {
                #expect(after[name] == before[name], "the other publisher: \(name)")
            }
            for name in ["dropped", "repeated", "reanchors"] {
                expectTiming(
                    try #require(after[name]), atMost: try #require(before[name]), "the other publisher: \(name)")
            }
        }

        /// A clip with a counter in its frames.
        private static func write(_ path: String) throws {
            let clip = try LiveClip("ANNA", hasStamps: false, size: (1280, 720))
            var bytes = clip.head
            while let packet = try clip.input.next() {
                guard packet.dts < Int64(Self.seconds) * Int64(packet.timescale) else { break }
                bytes += clip.bytes(packet.kind == .video ? Self.filled(packet) : packet, taken: 0)
            }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }

        /// Spec: H.264 §7.3.2.7 (filler data, NAL unit type 12).
        private static func filled(_ packet: CodedPacket) -> CodedPacket {
            let size = UInt32(Self.filler)
            let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
            let unit = [0x0C] + [UInt8](repeating: 0xFF, count: Self.filler - 2) + [0x80]
            var packet = packet
            let memory = packet.memory.bytes(in: packet.range) + length + unit
            packet.memory = PacketMemory(memory)
            packet.range = 0..<memory.count
            return packet
        }

        private static func ends(_ room: RunningRoom) -> [Event] {
            (room.events("ingest.unpublished") + room.events("ingest.lost")).filter { $0.text("uid") == "1001" }
        }

        /// Number of steps from one frame to the next, and of those that advance the counter by one.
        private static func steps(_ counters: [UInt16]) -> (all: Int, good: Int) {
            (max(0, counters.count - 1), zip(counters, counters.dropFirst()).count { $0 &+ 1 == $1 })
        }

        private static func counts(_ room: RunningRoom, uid: String) throws -> [String: Int] {
            let rows = try #require(try room.state()["sources"] as? [[String: Any]])
            let row = try #require(rows.first { $0["uid"] as? String == uid })
            return row.compactMapValues { ($0 as? NSNumber)?.intValue }
        }

        /// Resident memory in MiB.
        private static func memory(_ pid: pid_t) -> Double {
            let text = (try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)) ?? ""
            let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
            return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
        }
    }
}
