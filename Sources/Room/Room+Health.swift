import LibAV
import MediaKernels
import MediaTypes
import PipelineSpec
import Program
import RoomSources

extension SourceHealth.Rules {
    init(_ source: Pipeline.Source, _ alarms: Pipeline.Alarms) {
        self.init()
        self.fps = source.expected?.fps
        self.variableFrameRate = source.expected?.variableFrameRate ?? false
        self.bitrate = source.expected?.videoBitrate
        self.jitterBuffer = max(DecodeStage.leastBuffer, Int64(source.jitterBufferMs) * 1_000_000)
        self.window = Int64(alarms.windowMs) * 1_000_000
        self.clearAfter = Int64(alarms.clearAfterMs) * 1_000_000
        self.gap = alarms.gapMs.map { Int64($0) * 1_000_000 }
        self.fpsPercent = alarms.fpsPercent.map(Int64.init)
        self.networkPercent = alarms.networkPercent.map(Int64.init)
        self.bitratePercent = Int64(alarms.bitratePercent)
        self.skew = alarms.skewMs.map { Int64($0) * 1_000_000 }
        self.keyInterval = Int64(alarms.keyFrameIntervalMs) * 1_000_000
    }
}

extension Room {
    /// Between two looks at the sources' health.
    private static let healthInterval = TimeMath.nanoseconds

    /// Looks at the room's loops, and at how every source comes in, once a second; on the thread of the life.
    ///
    /// - Parameter last: When it last looked.
    func watchHealth(_ last: inout Int64) {
        let now = self.machine.now()
        guard now &- last >= Self.healthInterval else { return }
        last = now
        // A standstill counts from the first look at it.
        _ = self.isAlive
        let lag = self.programLag
        let overload = self.overload
        // Half of its limit is what an attempt to leave out less is given up at.
        let isWorkerBehind = overload.lag > overload.rules.limit / 2
        for source in self.pipeline.sources {
            guard let slot = self.slots[source.id], !slot.isFile,
                var surroundings = SourceHealth.Surroundings(slot.state)
            else { continue }
            surroundings.damaged = slot.decode.stats.damaged
            let timing = slot.decode.timing
            (surroundings.buffered, surroundings.depth) = (timing.buffered, timing.depth)
            (surroundings.lag, surroundings.isWorkerBehind) = (lag, isWorkerBehind)
            guard let change = slot.readHealth(surroundings, now: now) else { continue }
            self.events.emit(
                "source.health",
                [
                    "uid": .string(source.id.description), "level": .string(change.to.name),
                    "was": .string(change.from.name), "causes": .array(change.causes.map { .string($0.rawValue) }),
                    "findings": slot.findingsJSON, "figures": slot.healthFigures,
                ])
        }
        self.tellReanchored()
        self.noteAlarms()
    }

    /// Between two looks at the memory of packets: in this time every GOP and every segment there is comes and goes.
    private static let releaseInterval = 60 * TimeMath.nanoseconds

    /// Gives back memory of packets that nobody has needed lately, and what is free inside the heaps; on the thread of the life.
    ///
    /// - Parameter last: When that was done last.
    func releaseMemory(_ last: inout Int64) {
        let now = self.machine.now()
        guard now &- last >= Self.releaseInterval else { return }
        last = now
        PacketBlocks.releaseUnused()
        LibAV.trimHeaps()
    }

    /// How far the program is behind its clock, in nanoseconds; 0 before it runs.
    var programLag: Int64 {
        guard self.state == .live, let now = self.clock.now() else { return 0 }
        return LoopLags.behind(showing: self.program.tick, fps: self.fps, now: now)
    }
}

extension SourceSlot {
    /// For the state: level, and the causes of every level, the worst first.
    var healthJSON: JSONValue {
        let findings = self.healthFindings
        return [
            "level": .string((findings.first?.level ?? .normal).name),
            "causes": .array(findings.map { .string($0.cause.rawValue) }), "findings": Self.json(of: findings),
        ]
    }

    var findingsJSON: JSONValue { Self.json(of: self.healthFindings) }

    private static func json(of findings: [SourceHealth.Finding]) -> JSONValue {
        .array(
            findings.map { finding in
                [
                    "cause": .string(finding.cause.rawValue), "level": .string(finding.level.name),
                    "message": .string(finding.message),
                ]
            })
    }
}

extension Room {
    /// One line for people: `live, 2 of 2 sources, 3 s on air, 0 late`.
    package var statusLine: String {
        let slots = self.pipeline.sources.compactMap { self.slots[$0.id] }
        let live = slots.filter { $0.state == .live }.count
        let stats = self.program.stats
        return "\(self.phaseState.rawValue), \(live) of \(slots.count) sources live, "
            + "\(stats.ticks / Int64(max(1, self.fps))) s on air, \(stats.late) pictures late"
    }
}
