import HLS
import MediaKernels
import MediaTypes
import Packager
import PipelineSpec
import Program
import Synchronization

/// Leaves things out while the machine cannot keep up; see ``Overload``. Live rooms only, on the life's thread.
extension Room {
    /// The renditions that have a cheaper encoder, by their places in the ladder, the most samples a second first.
    static func costliestFirst(_ pipeline: Pipeline) -> [Int] {
        let renditions = pipeline.pictureRenditions
        let costs = renditions.map { $0.width * $0.height * $0.fps }
        return costs.indices.filter { renditions[$0].video.preset != .ultrafast }
            .sorted { (costs[$1], $0) < (costs[$0], $1) }
    }

    var overload: Overload { self.value.withLock(\.overload.overload) }

    /// Outputs that no viewer waits for leave their frames out.
    package var areOutputsPaused: Bool { self.outputsPaused.load(ordering: .relaxed) }

    /// The program makes up ticks of a time in which the machine stood still, or does no more.
    func setCatchingUp(_ isCatchingUp: Bool) { self.isCatchingUp.store(isCatchingUp, ordering: .relaxed) }

    /// Looks how far the room is behind, and does what follows from that.
    func stepOverload() {
        let now = self.machine.now()
        guard let lag = self.lag else { return }
        let before = self.overload.taken
        let (isPending, isCatchingUp) = (
            self.ladder.control.isExchanging, self.isCatchingUp.load(ordering: .relaxed)
        )
        let actions = self.value.withLock {
            $0.overload.noted(lag: lag, at: now, isPending: isPending, isCatchingUp: isCatchingUp)
        }
        var taken = before
        for action in actions {
            switch action {
            case .change(let step, let isTaken, let lag):
                taken += isTaken ? 1 : -1
                self.perform(step, isTaken: isTaken, lag: lag, level: taken)
            case .dropBacklog:
                self.ladder.control.holdPictures(before: self.program.tick + 2)
            }
        }
        if !actions.isEmpty || taken > 0 { self.setDecodingThrift() }
        if let held = self.value.withLock({ $0.overload.takeHeld(at: now) }) { self.keep(held) }
    }

    /// Continues at the level at which the worker before held, instead of finding it anew. Before anybody publishes.
    ///
    /// Only a room that goes on does: one that begins says nothing of the load of the room before it in the same directory.
    func recallOverload() {
        guard let directory = self.pipeline.hls?.path, !self.isOffline,
            let record = DirectoryStore(directory: directory).read(OverloadRecord.name)
        else { return }
        let steps = self.overload.steps
        guard self.packager?.hasPublishedBefore == true,
            let record = OverloadRecord(record, now: self.clocks.wall.now() / 1_000_000),
            let last = steps.firstIndex(where: { self.name(of: $0) == record.level })
        else {
            self.keep(nil)
            return
        }
        let held = Overload.Held(steps: Array(steps[...last]), distance: record.distanceMs &* 1_000_000)
        let now = self.machine.now()
        for (index, step) in self.value.withLock({ $0.overload.resume(held, at: now) }).enumerated() {
            self.apply(step, isTaken: true, level: index + 1)
        }
    }

    /// Reports the steps that ``recallOverload()`` has taken: behind `room.ready`, which is the first event.
    func announceOverload() {
        for (index, step) in self.overload.active.enumerated() {
            self.report(step, isTaken: true, lag: 0, level: index + 1)
        }
    }

    /// Writes the level down for a successor; not on the thread of the life, which no disk may stop.
    private func keep(_ held: Overload.Held?) {
        guard let directory = self.pipeline.hls?.path else { return }
        let record = held.flatMap { held in held.steps.last.map { (self.name(of: $0), held.distance) } }.map {
            OverloadRecord(
                level: $0, distanceMs: $1 / 1_000_000, writtenAt: self.clocks.wall.now() / 1_000_000)
        }
        self.overloadWrites.async {
            let store = DirectoryStore(directory: directory)
            do throws(MediaError) {
                if let record {
                    try store.put(
                        OverloadRecord.name, [PacketMemory(Array(record.json.utf8))], durable: false)
                } else {
                    try store.remove(OverloadRecord.name)
                }
            } catch {
                self.logger.debug("the level of the overload cannot be kept", metadata: ["error": "\(error)"])
            }
        }
    }

    /// How far the slowest encoder or decoder is behind its time, in nanoseconds; `nil` while the program does not run.
    private var lag: Int64? {
        guard self.state == .live, let now = self.clock.now(), let entered = self.ladder.control.enteredByAll else {
            return nil
        }
        let behind = self.slots.values.filter { !$0.buffer.need.isHidden }.map(\.decode.lateness).max() ?? 0
        return max(behind, self.lag(ofEncodersAt: entered, now: now))
    }

    /// - Parameter level: Steps that are taken after it.
    private func perform(_ step: Overload.Step, isTaken: Bool, lag: Int64, level: Int) {
        self.apply(step, isTaken: isTaken, level: level)
        self.report(step, isTaken: isTaken, lag: lag, level: level)
    }

    private func apply(_ step: Overload.Step, isTaken: Bool, level: Int) {
        switch step {
        case .decoding: break
        case .outputs: self.outputsPaused.store(isTaken, ordering: .relaxed)
        case .encoder(let track): self.ladder.control.setThrifty(isTaken, track: track)
        case .halfPictures, .hold:
            let active = self.overload.steps.prefix(level)
            self.program.setPictureThrift(
                active.contains(.hold) ? .hold : active.contains(.halfPictures) ? .half : .none)
        }
    }

    private func report(_ step: Overload.Step, isTaken: Bool, lag: Int64, level: Int) {
        self.events.emit(
            "encoder.overload_step",
            [
                "step": .string(step.name), "rendition": JSONValue(self.rendition(of: step)),
                "taken": .bool(isTaken), "lagMs": .integer(lag / 1_000_000), "steps": JSONValue(level),
            ])
    }

    /// Its name for people and for a successor, such as `encoder 720p`.
    private func name(of step: Overload.Step) -> String {
        [step.name, self.rendition(of: step)].compactMap { $0 }.joined(separator: " ")
    }

    /// The room's alarm while its machine cannot keep up, at whatever level; `nil` while it can.
    var overloadAlarm: AlarmBook.Alarm? {
        let overload = self.overload
        guard overload.isOverloaded(at: self.machine.now()) else { return nil }
        let isSeen = overload.active.contains(.halfPictures)
        let left = overload.active.map { self.name(of: $0) }
        return AlarmBook.Alarm(
            "encoder.overload_step", isSeen ? "alert_3" : "alert_2", kind: "encoder",
            message: "this machine cannot keep up: level \(overload.taken) of \(overload.steps.count)"
                + (left.isEmpty ? "" : ", left out: \(left.joined(separator: ", "))"))
    }

    func rendition(of step: Overload.Step) -> String? {
        guard case .encoder(let track) = step, self.ladder.rungs.indices.contains(track) else { return nil }
        return self.ladder.rungs[track].name
    }

    private func setDecodingThrift() {
        let isThrifty = self.overload.active.contains(.decoding)
        for (id, slot) in self.slots {
            let isOversized = isThrifty && slot.format.map { self.program.isOversized(id, $0) } ?? false
            slot.buffer.need.setThrift(isThrifty, skipsLoopFilter: isOversized)
        }
    }

    /// As the state shows it.
    var overloadJSON: JSONValue {
        let overload = self.overload
        return [
            "lagMs": .integer(overload.lag / 1_000_000),
            "steps": .array(
                overload.active.map { .string(self.name(of: $0)) }),
        ]
    }
}

extension Overload.Step {
    /// Its name in events and in the state.
    var name: String {
        switch self {
        case .decoding: "decoding"
        case .outputs: "outputs"
        case .encoder: "encoder"
        case .halfPictures: "halfPictures"
        case .hold: "hold"
        }
    }
}
