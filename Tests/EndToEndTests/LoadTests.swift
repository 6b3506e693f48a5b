import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Viewers made by one C program on one epoll (`benchmarks/load/viewers.c`), so that their own cost can be separated.
    /// By default hundreds for some seconds; `TANDEM_LOAD=full` (`make load-test`) makes thousands, and also checks
    /// latency, CPU and late frames.
    @Suite("Hundreds of viewers, or thousands with TANDEM_LOAD=full", .serialized)
    struct LoadTests {
        private static let isFull = ProcessInfo.processInfo.environment["TANDEM_LOAD"] == "full"

        @Test(
            "players with blocking reloads get a reply for 90 % of the parts or more; slow readers and floods add at most 64 MiB of memory"
        )
        func viewers() throws {
            let room = try LoadedRoom.start()
            try self.wait(room)
            try self.flood(room)
            try room.end()
        }

        private func wait(_ room: LoadedRoom) throws {
            let players = Self.isFull ? 1_000 : 200
            let result = try room.load(["blocked=\(players)", "seconds=\(Self.isFull ? 30 : 5)"])
            expectTiming(result["parts"], atLeast: 5, "parts")
            #expect(result["refused"] == 0)
            expectTiming(
                result["replies"] + result["behind"], atLeast: result["parts"] * Double(players) * 0.9,
                "replies to waiting players")
            if Self.isFull { expectTiming(result["late"], atMost: 0, "late frames") }
            guard Self.isFull else { return }
            expectTiming(result["p99Ms"], atMost: 50, "ms to 99 % of replies")
            expectTiming(result["maxMs"], atMost: 150, "ms to the last reply")
            expectTiming(result["extraCPU"], atMost: 0.3, "cores above idle")
        }

        private func flood(_ room: LoadedRoom) throws {
            let size =
                Self.isFull ? ["slow=2000", "flood=5000", "seconds=30"] : ["slow=300", "flood=1000", "seconds=5"]
            let result = try room.load(["connections=100"] + size)
            expectTiming(result["flood"], atLeast: Self.isFull ? 100_000 : 2_000, "answered requests")
            #expect(result["floodErrors"] == 0)
            #expect(result["extraMiB"] <= 64)
            if Self.isFull { expectTiming(result["late"], atMost: 0, "late frames") }
        }
    }
}

/// Measurements of one load, by the client and for the room's process.
private struct Figures {
    var values: [String: Double] = [:]
    /// NaN if it was not reported, which meets no limit.
    subscript(_ name: String) -> Double { self.values[name] ?? .nan }
}

/// A live PK room with one small rendition, for one load after another.
private struct LoadedRoom {
    private let work: WorkDirectory
    private let client: String
    private let room: RunningRoom
    private let publishers: [Publisher]
    private let port: String
    /// CPU cores and resident megabytes of the room without viewers.
    private let idle: (cores: Double, memory: Double)

    /// Builds the client and starts the room. If there is no C compiler, then the current test ends as skipped.
    static func start() throws -> LoadedRoom {
        let work = try WorkDirectory()
        let client = work.path("viewers")
        let compiler = try TestTool.require("cc")
        let source = "\(EndToEnd.root)/benchmarks/load/viewers.c"
        try #require(try Command.run(compiler, ["-O2", "-o", client, source]).code == 0)
        return try LoadedRoom(work, client)
    }

    private init(_ work: WorkDirectory, _ client: String) throws {
        let room = try RunningRoom(
            Rooms.live(work.path("out"), renditions: Rooms.small, canvas: (320, 180), scene: "pk"))
        self.publishers = [
            try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180"),
            try Publisher.pattern("BEN", to: room.url("b"), size: "320x180"),
        ]
        try room.segments(3)
        self.port = try #require(room.viewer?.split(separator: ":").last.map(String.init))
        let (memory, before) = (Self.memory(room.child.pid), Self.cpu(room.child.pid))
        sleep(3)
        self.idle = ((Self.cpu(room.child.pid) - before) / 3, memory)
        self.work = work
        self.client = client
        self.room = room
    }

    func load(_ arguments: [String]) throws -> Figures {
        let pid = self.room.child.pid
        let (before, start, late) = (Self.cpu(pid), Date(), try self.late())
        let load = try Child(self.client, [self.port, "180p.m3u8"] + arguments)
        var largest = self.idle.memory
        while kill(load.pid, 0) == 0, Date().timeIntervalSince(start) < 90 {
            largest = max(largest, Self.memory(pid))
            usleep(200_000)
            if load.outputLines.count > 0 { break }
        }
        try #require(try load.wait(timeout: 20) == 0, "\(load.errors)")
        let cpu = (Self.cpu(pid) - before) / Date().timeIntervalSince(start)
        let line = try #require(load.outputLines.first)
        var figures = Figures()
        for (name, value) in try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:] {
            figures.values[name] = (value as? NSNumber)?.doubleValue
        }
        figures.values["extraCPU"] = cpu - self.idle.cores
        figures.values["extraMiB"] = largest - self.idle.memory
        figures.values["late"] = try self.late() - late
        EndToEnd.report(
            "load \(arguments.joined(separator: " ")): \(line) cores \(figures["extraCPU"]) and MiB "
                + "\(figures["extraMiB"]) above idle, late ticks \(figures["late"])")
        return figures
    }

    func end() throws {
        #expect(try self.room.end() == 0)
        for publisher in self.publishers { publisher.stop() }
    }

    private func late() throws -> Double {
        let ticks = try #require(try self.room.state()["ticks"] as? [String: Any])
        return (ticks["late"] as? NSNumber)?.doubleValue ?? .infinity
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
