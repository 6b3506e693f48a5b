package import MediaTypes

/// The estimated resources of a room.
package struct RoomCost: Sendable, Hashable {
    /// A part of the room and its CPU time per second.
    package struct Stage: Sendable, Hashable {
        /// Name of the part, such as `decode` or `encode[720p]`.
        package var name: String
        /// Nanoseconds of CPU time per second, on average.
        package var nanoseconds: Int64

        package init(_ name: String, _ nanoseconds: Int64) {
            self.name = name
            self.nanoseconds = nanoseconds
        }
    }

    /// The parts of the room with their CPU time, in the order of the media flow.
    package var stages: [Stage] = []
    /// Nanoseconds of CPU time per second, among those of ``stages``, that the room saves while all renditions sleep that
    /// are encoded only while somebody watches them.
    package var sleepNanoseconds: Int64 = 0
    /// Peak resident memory, in bytes.
    package var memoryBytes: Int64 = 0
    /// Traffic from publishers and pulled sources in bit/s, while all are live.
    package var ingressBitsPerSecond: Int64 = 0
    /// Traffic to relays, viewers, RTMP servers and stores in bit/s: the peak of the highest rendition for each viewer,
    /// and of all renditions for each store.
    package var egressBitsPerSecond: Int64 = 0
    /// Bytes written to the output directories per hour, including segments that are deleted when they leave the
    /// playlists.
    package var writtenBytesPerHour: Int64 = 0
    /// Bytes on disk at any time for segments in the playlists and those that left them recently; for an event
    /// playlist, bytes of one hour.
    package var windowBytes: Int64 = 0
    /// Bytes that a recording adds per hour.
    package var recordedBytesPerHour: Int64 = 0
    /// Number of viewers at the room's own listener that the estimate assumes.
    package var viewers = 0
    /// What the estimate cannot know, as sentences without a final period.
    package var notes: [String] = []
    /// Machine on which the coefficients were measured.
    package var machine = ""

    /// Mean CPU use in thousandths of a core.
    package var meanMillicores: Int64 { Self.millicores(self.total) }

    /// 95th percentile of the CPU use in thousandths of a core: the amount to request from an orchestrator.
    package var peakMillicores: Int64 {
        Self.millicores(TimeMath.scale(self.total, by: CostCoefficients.peakPercent, over: 100, rounding: .down))
    }

    /// ``meanMillicores`` while all renditions sleep that can; `nil` if none can.
    package var asleepMeanMillicores: Int64? {
        self.sleepNanoseconds > 0 ? Self.millicores(max(0, self.total - self.sleepNanoseconds)) : nil
    }

    /// ``peakMillicores`` while all renditions sleep that can; `nil` if none can.
    package var asleepPeakMillicores: Int64? {
        guard self.sleepNanoseconds > 0 else { return nil }
        return Self.millicores(
            TimeMath.scale(
                max(0, self.total - self.sleepNanoseconds), by: CostCoefficients.peakPercent, over: 100, rounding: .down
            ))
    }

    private var total: Int64 { self.stages.reduce(0) { CostModel.sum($0, $1.nanoseconds) } }

    /// Converts nanoseconds of CPU time per second to thousandths of a core, rounded up.
    private static func millicores(_ nanoseconds: Int64) -> Int64 {
        TimeMath.scale(nanoseconds, by: 1, over: 1_000_000, rounding: .up)
    }
}

extension RoomCost {
    /// The estimate as text, with a final line break.
    package var text: String {
        func cores(_ milli: Int64) -> String { Self.decimal(milli, places: 3, keep: 2) }
        var lines = [
            "cores      \(cores(self.peakMillicores)) (mean \(cores(self.meanMillicores)))"
        ]
        if let mean = self.asleepMeanMillicores, let peak = self.asleepPeakMillicores {
            lines.append(
                "asleep     \(cores(peak)) (mean \(cores(mean))) while nobody watches the renditions that can sleep")
        }
        lines += [
            "memory     \(Self.bytes(self.memoryBytes))",
            "in         \(Self.bits(self.ingressBitsPerSecond))",
            "out        \(Self.bits(self.egressBitsPerSecond)) (\(self.viewers) viewer\(self.viewers == 1 ? "" : "s"))",
            "disk       \(Self.bytes(self.writtenBytesPerHour)) per hour, window \(Self.bytes(self.windowBytes)), "
                + "recording \(Self.bytes(self.recordedBytesPerHour)) per hour",
        ]
        for stage in self.stages {
            lines.append("  \(stage.name) \(cores(Self.millicores(stage.nanoseconds)))")
        }
        lines += self.notes
        lines.append("measured on \(self.machine)")
        return lines.map { $0 + "\n" }.joined()
    }

    /// The estimate as JSON.
    package var json: JSONNode {
        let stages = self.stages.map { JSONMember($0.name, JSONNode(.integer(Self.millicores($0.nanoseconds)))) }
        var members = [
            JSONMember("cpuMillicores", JSONNode(.integer(self.peakMillicores))),
            JSONMember("cpuMeanMillicores", JSONNode(.integer(self.meanMillicores))),
        ]
        if let mean = self.asleepMeanMillicores, let peak = self.asleepPeakMillicores {
            members.append(JSONMember("cpuAsleepMillicores", JSONNode(.integer(peak))))
            members.append(JSONMember("cpuAsleepMeanMillicores", JSONNode(.integer(mean))))
        }
        members += [
            JSONMember("memoryBytes", JSONNode(.integer(self.memoryBytes))),
            JSONMember("ingressBitsPerSecond", JSONNode(.integer(self.ingressBitsPerSecond))),
            JSONMember("egressBitsPerSecond", JSONNode(.integer(self.egressBitsPerSecond))),
            JSONMember("viewers", .integer(self.viewers)),
            JSONMember("writtenBytesPerHour", JSONNode(.integer(self.writtenBytesPerHour))),
            JSONMember("windowBytes", JSONNode(.integer(self.windowBytes))),
            JSONMember("recordedBytesPerHour", JSONNode(.integer(self.recordedBytesPerHour))),
            JSONMember("stageMillicores", .object(stages)),
            JSONMember("measuredOn", .string(self.machine)),
        ]
        if !self.notes.isEmpty { members.append(JSONMember("notes", .array(self.notes.map { .string($0) }))) }
        return .object(members)
    }

    private static func bytes(_ count: Int64) -> String {
        count < 10 << 30
            ? "\((count + (1 << 20) - 1) >> 20) MiB" : "\(Self.decimal((count * 10) >> 30, places: 1, keep: 1)) GiB"
    }

    private static func bits(_ count: Int64) -> String { "\(Self.decimal(count, places: 6, keep: 2)) Mbit/s" }

    /// Returns `number` divided by ten to the power of `places`, truncated to `keep` decimals.
    private static func decimal(_ number: Int64, places: Int, keep: Int) -> String {
        let scale = (0..<places).reduce(Int64(1)) { product, _ in product * 10 }
        let fraction = String(String(number % scale + scale).dropFirst()).prefix(keep)
        return "\(number / scale).\(fraction)"
    }
}
