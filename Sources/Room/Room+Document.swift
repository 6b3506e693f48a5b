import Control
import HLS
import MediaTypes
import PipelineSpec
import Push
import Program
import Recording
import RoomOutputs
import RoomSources
import Synchronization

/// The parts of the room's document that say how it is to be and how near it is to its limits.
extension Room {
    var canvasJSON: JSONValue {
        let canvas = self.pipeline.canvas
        return ["width": JSONValue(canvas.width), "height": JSONValue(canvas.height), "fps": JSONValue(canvas.fps)]
    }

    /// The ladder, and what each step of it took of the last segment.
    var renditionsJSON: JSONValue {
        let (bytes, frames) = self.value.withLock { ($0.outputs.lastSizes, $0.outputs.lastFrames) }
        let fps = Int64(self.fps)
        return .array(
            self.pipeline.renditions.map { rendition -> JSONValue in
                let measured = bytes[rendition.name].flatMap { size -> Int64? in
                    frames > 0 ? TimeMath.scale(Int64(size) * 8, by: fps, over: frames) : nil
                }
                let isPicture = !rendition.isAudioOnly
                return [
                    "name": .string(rendition.name), "width": isPicture ? JSONValue(rendition.width) : .null,
                    "height": isPicture ? JSONValue(rendition.height) : .null,
                    "fps": isPicture ? JSONValue(rendition.fps) : .null,
                    "codec": isPicture ? .string(rendition.video.codec.rawValue) : .null,
                    "bitrate": isPicture ? JSONValue(rendition.video.bitrate) : .null,
                    "maxBitrate": isPicture ? JSONValue(rendition.video.maxBitrate) : .null,
                    "measuredBitrate": measured.map { .integer($0) } ?? .null,
                    "passthrough": isPicture ? self.passthrough?.json(of: rendition.name) ?? .null : .null,
                ]
            })
    }

    /// In the order of the pipeline.
    var outputsJSON: JSONValue {
        let pushes = self.live?.outputs.statuses ?? []
        return .array(
            self.pipeline.outputs.map { output -> JSONValue in
                var members: [JSONValue.Member] = [
                    .init("outputId", .string(output.outputID)), .init("type", .string(output.typeName)),
                ]
                switch output {
                case .hls(let hls):
                    members.append(.init("playlist", .string(hls.multivariantPlaylist)))
                    members.append(.init("lowLatency", .bool(hls.lowLatency)))
                case .rtmp:
                    members +=
                        pushes.first { $0.outputID == output.outputID }?.members
                        ?? [.init("state", .string(PushCore.State.waiting.rawValue))]
                case .http, .s3:
                    members += self.outputStages.uploads.first { $0.outputID == output.outputID }?.members ?? []
                case .transport(let output):
                    members.append(.init("playlist", .string("\(output.outputID)/\(output.multivariantPlaylist)")))
                case .record:
                    guard let recorder = self.recorder else { break }
                    members.append(.init("state", .string(recorder.status.rawValue)))
                    members.append(.init("take", recorder.number.map { JSONValue($0) } ?? .null))
                case .raw, .image: break
                }
                return .object(members)
            })
    }

    // MARK: Latencies

    /// How long a look at the latencies is good for: it sorts some ten thousand of them.
    private static let latencyAge = 2 * TimeMath.nanoseconds

    /// Milliseconds media takes, beside what it may take by the pipeline's own figures.
    var latencyJSON: JSONValue {
        let now = self.machine.now()
        let kept = self.value.withLock(\.latencies).flatMap { now &- $0.at < Self.latencyAge ? $0.json : nil }
        let measured = kept ?? self.measuredLatencies
        if kept == nil { self.value.withLock { $0.latencies = (now, measured) } }
        var members: [JSONValue.Member] = [
            .init(
                "program",
                [
                    "lagMs": .integer(self.programLag / 1_000_000),
                    "limitMs": JSONValue(self.pipeline.overload.maxLagMs),
                ])
        ]
        if case .object(let others) = measured { members += others }
        return .object(members)
    }

    private var measuredLatencies: JSONValue {
        let hls = self.pipeline.hls
        let fps = Int64(max(1, self.fps))
        func milliseconds(_ frames: Int) -> Int64 { Int64(frames) * 1000 / fps }
        let part = milliseconds(hls?.partFrames ?? 0)
        let segment = milliseconds(hls?.segmentFrames ?? 0)
        let jitter = Int64(self.pipeline.sources.map(\.jitterBufferMs).max() ?? 0)
        let slack = jitter + Int64(self.pipeline.overload.maxLagMs)
        let parts = self.latencies.partPercentiles.map { found -> JSONValue in
            [
                "p50Ms": JSONValue(found.p50), "p95Ms": JSONValue(found.p95), "p99Ms": JSONValue(found.p99),
                "limitMs": .integer(slack + part),
            ]
        }
        let segments = self.latencies.segmentPercentiles.map { found -> JSONValue in
            ["p50Ms": JSONValue(found.p50), "p95Ms": JSONValue(found.p95), "limitMs": .integer(slack + segment)]
        }
        let encoding = self.latencies.encodingPercentiles.map { found -> JSONValue in
            [
                "p50Ms": .thousandths(found.p50), "p99Ms": .thousandths(found.p99), "maxMs": .thousandths(found.max),
                "limitMs": .integer(part),
            ]
        }
        return ["sendToPart": parts ?? .null, "sendToSegment": segments ?? .null, "partEncode": encoding ?? .null]
    }

    // MARK: Alarms

    /// Looks at what is wrong, for whoever asks for the room; on the thread of the life.
    func noteAlarms() {
        var alarms: [AlarmBook.Alarm] = []
        for source in self.pipeline.sources {
            guard let slot = self.slots[source.id], !slot.isFile else { continue }
            for finding in slot.healthFindings {
                let type = finding.cause.alarmType
                // The worker's own, whichever source shows it.
                if finding.cause == .workerLag {
                    if !alarms.contains(where: { $0.type == type }) {
                        alarms.append(
                            AlarmBook.Alarm(type, finding.level.name, kind: "encoder", message: finding.message))
                    }
                    continue
                }
                alarms.append(
                    AlarmBook.Alarm(
                        type, finding.level.name, kind: "source", subject: source.id.description,
                        message: "\(slot.spec.name ?? source.id.description): \(finding.message)"))
            }
        }
        if let alarm = self.overloadAlarm {
            // One alarm says it: that the program is behind its clock is the same.
            alarms.removeAll { $0.type == SourceHealth.Cause.workerLag.alarmType }
            alarms.append(alarm)
        }
        let outputs = self.outputs.alarms()
        alarms += outputs.onDisk + outputs.elsewhere
        self.notePhase { $0.isOutputLost = !outputs.elsewhere.isEmpty }
        if let alarm = self.value.withLock({ $0.configurationAlarm }) { alarms.append(alarm) }
        alarms += self.certificateAlarms
        alarms += self.commandAlarms
        let changes = self.value.withLock { $0.alarms.update(alarms, at: self.clocks.wall.now()) }
        for change in changes { self.tell(change) }
        if !changes.isEmpty { self.noteAnnounced() }
    }

    /// What this worker has called wrong is over with it: an alarm's id is of its worker, so no other could tell.
    func endAlarms() {
        let changes = self.value.withLock { $0.alarms.update([], at: self.clocks.wall.now(), isLast: true) }
        for change in changes { self.tell(change) }
        self.noteAnnounced()
    }

    /// The level is what it is from now on; the alarm itself is as the state has it.
    private func tell(_ change: AlarmBook.Change) {
        let (type, entry, level) =
            switch change {
            case .set(let entry): ("alarm.set", entry, entry.alarm.severity)
            case .cleared(let entry): ("alarm.cleared", entry, "normal")
            }
        self.events.emit(
            type,
            [
                "id": .string(self.id(of: entry)), "level": .string(level), "reason": .string(entry.alarm.message),
                "uid": entry.alarm.kind == "source" ? JSONValue(entry.alarm.subject) : .null,
                "alarm": self.json(of: entry),
            ])
    }

    var alarmsJSON: JSONValue { self.json(of: self.value.withLock(\.alarms.entries)) }

    func json(of alarms: [AlarmBook.Entry]) -> JSONValue { .array(alarms.map { self.json(of: $0) }) }

    /// No other alarm of the room has it, not under another worker either.
    func id(of entry: AlarmBook.Entry) -> String { entry.earlierID ?? "\(self.incarnation)-\(entry.number)" }

    private func json(of entry: AlarmBook.Entry) -> JSONValue {
        [
            "id": .string(self.id(of: entry)), "type": .string(entry.alarm.type),
            "severity": .string(entry.alarm.severity), "state": .string(entry.clearedAt == nil ? "set" : "cleared"),
            "scope": ["kind": .string(entry.alarm.kind), "id": JSONValue(entry.alarm.subject)],
            "message": .string(entry.alarm.message), "setAt": .string(ProgramDate.format(entry.setAt)),
            "clearedAt": JSONValue(entry.clearedAt.map { ProgramDate.format($0) }),
        ]
    }
}

extension Room.State {
    /// What the room is on its way to.
    var desired: String {
        switch self {
        case .starting, .waiting, .live: "live"
        case .draining: "draining"
        case .ending, .closed: "closed"
        }
    }
}

extension Output {
    /// Its `type` in the pipeline file.
    var typeName: String {
        switch self {
        case .hls, .transport: "hls"
        case .raw: "raw"
        case .record: "record"
        case .rtmp: "rtmp"
        case .http: "http"
        case .s3: "s3"
        case .image: "image"
        }
    }
}
