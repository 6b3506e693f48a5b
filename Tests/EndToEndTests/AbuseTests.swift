import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Two hundred connections that do not publish and 500 wrong keys a second (`benchmarks/load/abusers.c`), for some
    /// seconds by default; `TANDEM_ABUSE=full` runs each for a minute.
    @Suite("Floods of abusive connections do not affect publishers", .serialized)
    struct AbuseTests {
        private static let isFull = ProcessInfo.processInfo.environment["TANDEM_ABUSE"] == "full"

        /// A PK room one of whose publishers has not connected yet.
        private struct Door {
            let room: RunningRoom
            let publishers: [Publisher]
        }

        @Test(
            "a flood of idle connections and wrong keys costs a room at most 100 MiB of memory and no frame; a new publisher is live in 2 s"
        )
        func abuse() throws {
            let work = try WorkDirectory()
            let compiler = try TestTool.require("cc")
            let program = work.path("abusers")
            let build = try Command.run(compiler, ["-O2", "-o", program, "\(EndToEnd.root)/benchmarks/load/abusers.c"])
            try #require(build.code == 0, "\(build.errors)")
            // They start at the same time, and are abused one after the other.
            let addresses = [50, 1]
            let doors = try addresses.map { try Self.door(work.path("out-\($0)")) }
            for door in doors {
                try door.room.event("segment.published", timeout: 30) { ($0.integer("mediaSequence") ?? 0) >= 2 }
            }
            for (count, door) in zip(addresses, doors) { try Self.abuse(door, from: count, program) }
        }

        private static func door(_ directory: String) throws -> Door {
            let pipeline = Rooms.live(directory, renditions: Rooms.small, canvas: (320, 180), scene: "pk")
                .replacingOccurrences(
                    of: #"{ "uid": "2002","#, with: #"{ "uid": "3003", "streamKey": "c" }, { "uid": "2002","#)
            let room = try RunningRoom(pipeline)
            return Door(
                room: room,
                publishers: [
                    try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180"),
                    try Publisher.pattern("BEN", to: room.url("b"), size: "320x180"),
                ])
        }

        private static func abuse(_ door: Door, from addresses: Int, _ program: String) throws {
            let (room, seconds) = (door.room, Self.isFull ? 60 : 5)
            let port = try #require(room.rtmp.split(separator: ":").last.map(String.init))
            let (memory, cpu) = (Self.memory(room.child.pid), Self.cpu(room.child.pid))
            let before = try Self.sources(room)
            let abusers = try Child(
                program,
                [port, "addresses=\(addresses)", "clients=200", "keys=500", "seconds=\(seconds)"])
            var largest = memory
            func watch(_ duration: Double) {
                let end = Date(timeIntervalSinceNow: duration)
                while Date() < end {
                    largest = max(largest, Self.memory(room.child.pid))
                    usleep(50_000)
                }
            }
            watch(2)
            let came = Date().timeIntervalSince1970
            let third = try Publisher.pattern("CLEO", to: room.url("c"), size: "320x180")
            let live = try room.event("source.live", uid: "3003", timeout: 15).time - came
            watch(Double(seconds) - 2 - live)
            try #require(try abusers.wait(timeout: 20) == 0, "\(abusers.errors)")
            let after = try Self.sources(room)
            let cores = (Self.cpu(room.child.pid) - cpu) / Double(seconds)
            let told = room.events("ingest.refused").count
            EndToEnd.report(
                String(
                    format:
                        "abuse from %d addresses: %@; third on air after %.2f s; %.0f MB above idle; %d refusals told; %.2f cores",
                    addresses, abusers.outputLines.first ?? "", live, largest - memory, told, cores))
            expectTiming(live, atMost: 2, "seconds until the third publisher is on air")
            #expect(largest - memory <= 100)
            #expect(told < 50 * 20 + addresses * 20 + seconds * addresses)
            for uid in ["1001", "2002"] {
                let (old, new) = (try #require(before[uid]), try #require(after[uid]))
                for count in ["damaged", "reconnects"] { #expect(new[count] == old[count], "\(uid): \(count)") }
                // A publisher that is late causes a repeated frame, which may be the machine's fault.
                for count in ["repeated", "dropped"] {
                    expectTiming(try #require(new[count]), atMost: try #require(old[count]), "\(uid): frames \(count)")
                }
                let packets = (new["videoPackets"] ?? 0) - (old["videoPackets"] ?? 0)
                expectTiming(packets, atLeast: (seconds - 1) * 30 + 1, "\(uid): frames in \(seconds) s")
            }
            #expect(try room.end() == 0)
            for publisher in door.publishers + [third] { publisher.stop() }
        }

        private static func sources(_ room: RunningRoom) throws -> [String: [String: Int]] {
            let rows = try #require(try room.state()["sources"] as? [[String: Any]])
            var sources: [String: [String: Int]] = [:]
            for row in rows {
                sources[row["uid"] as? String ?? ""] = row.compactMapValues { ($0 as? NSNumber)?.intValue }
            }
            return sources
        }

        /// Resident memory in MiB.
        private static func memory(_ pid: pid_t) -> Double {
            let text = (try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)) ?? ""
            let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
            return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
        }

        /// CPU time used so far, in seconds.
        private static func cpu(_ pid: pid_t) -> Double {
            let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
            return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }
}
