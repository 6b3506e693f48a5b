import HLS
import MediaKernels
import MediaTypes
import Packager
import PipelineSpec
import Program
import Synchronization

/// Takes and undoes the steps of ``Overload`` while the machine cannot keep up. Live rooms only, on the life's thread.
extension Room {
    /// Indexes of the renditions that have a cheaper encoder, those with the most samples per second first.
    static func costliestFirst(_ pipeline: Pipeline) -> [Int] {
        let renditions = pipeline.pictureRenditions
        let costs = renditions.map { $0.width * $0.height * $0.fps }
        return costs.indices.filter { renditions[$0].video.preset != .ultrafast }
            .sorted { (costs[$1], $0) < (costs[$0], $1) }
    }

    var overload: Overload { self.value.withLock(\.overload.overload) }

    /// Whether outputs that no viewer waits for skip their frames.
    package var areOutputsPaused: Bool { self.outputsPaused.load(ordering: .relaxed) }

    /// Sets whether the program is making up for a time in which the machine was suspended.
    func setCatchingUp(_ isCatchingUp: Bool) { self.isCatchingUp.store(isCatchingUp, ordering: .relaxed) }

    /// Measures the room's lag and carries out the resulting actions.
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
            case .dropBacklog(_, let keepsMotion):
                self.ladder.control.dropPictures(before: self.program.tick + 2, keepsMotion: keepsMotion)
            }
        }
        if !actions.isEmpty || taken > 0 { self.setDecodingThrift() }
        if let held = self.value.withLock({ $0.overload.takeHeld(at: now) }) { self.keep(held) }
    }

    /// Starts at the overload level of the previous worker instead of finding it anew. Called before anybody publishes.
    ///
    /// Only a continued room does so: in a new room, the record is from another room in the same directory.
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

    /// Reports the steps that ``recallOverload()`` has taken: after `room.ready`, which must be the first event.
    func announceOverload() {
        for (index, step) in self.overload.active.enumerated() {
            self.report(step, isTaken: true, lag: 0, level: index + 1)
        }
    }

    /// Saves the level for a successor; not on the life's thread, which must not wait for a disk.
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
                self.logger.debug("the overload level cannot be saved", metadata: ["error": "\(error)"])
            }
        }
    }

    /// The lag of the slowest encoder or decoder, in nanoseconds; `nil` while the program does not run.
    private var lag: Int64? {
        guard self.state == .live, let now = self.clock.now(), let entered = self.ladder.control.enteredByAll else {
            return nil
        }
        let behind = self.slots.values.filter { !$0.buffer.need.isHidden }.map(\.decode.lateness).max() ?? 0
        return max(behind, self.loops.lag(ofEncodersAt: entered, now: now))
    }

    /// - Parameter level: Number of steps that are taken after this one.
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

    /// The name of a step in messages and for a successor, such as `encoder 720p`.
    private func name(of step: Overload.Step) -> String {
        [step.name, self.rendition(of: step)].compactMap { $0 }.joined(separator: " ")
    }

    /// The alarm while the machine cannot keep up, at any level; `nil` while it can.
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
    func json(of overload: Overload) -> JSONValue {
        [
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
