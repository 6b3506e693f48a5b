import HLS
import MediaTypes
import PipelineSpec
import Program

/// Leaves things out while the machine cannot keep up; see ``Overload``. Live rooms only, on the life's thread.
extension Room {
    /// The renditions that have a cheaper encoder, by their places in the ladder, the most samples a second first.
    static func costliestFirst(_ pipeline: Pipeline) -> [Int] {
        let renditions = pipeline.pictureRenditions
        let costs = renditions.map { $0.width * $0.height * $0.fps }
        return costs.indices.filter { renditions[$0].video.preset != .ultrafast }
            .sorted { (costs[$1], $0) < (costs[$0], $1) }
    }

    /// Looks how far the room is behind, and does what follows from that.
    func stepOverload() {
        guard let lag = self.lag else { return }
        let changes = self.overload.noted(lag: lag, at: self.machine.now())
        // Several may be taken at once; each tells how many there are with it.
        let taken = self.overload.overload.taken
        // At a pace that takes several, what waits is given up, and what the encoders look ahead at: to code that at the
        // full price would take longer than players wait for a segment.
        if changes.contains(where: { $0.isTaken && ($0.step == .hold || changes.count > 1) }) {
            for case .encoder(let track) in self.overload.overload.active {
                self.ladder.control.setThrifty(true, track: track)
            }
            self.ladder.control.holdPictures(before: self.program.tick + 2)
        }
        for (place, change) in changes.enumerated() {
            self.perform(change, steps: change.isTaken ? taken - (changes.count - 1 - place) : taken)
        }
        if !changes.isEmpty || self.overload.overload.taken > 0 { self.setDecodingThrift() }
    }

    /// How far the slowest encoder or decoder is behind its time, in nanoseconds; `nil` while the program does not run.
    private var lag: Int64? {
        guard self.state == .live, let now = self.clock.now(), let entered = self.ladder.control.enteredByAll else {
            return nil
        }
        let behind = self.slots.values.filter { !$0.buffer.need.isHidden }.map(\.decode.lateness).max() ?? 0
        return max(behind, self.lag(ofEncodersAt: entered, now: now))
    }

    /// - Parameter steps: How many are taken after it.
    private func perform(_ change: Overload.Change, steps: Int) {
        let active = self.overload.overload.active
        switch change.step {
        case .decoding: break
        case .outputs: self.overload.setOutputsPaused(change.isTaken)
        case .encoder(let track): self.ladder.control.setThrifty(change.isTaken, track: track)
        case .halfPictures, .hold:
            self.program.setPictureThrift(
                active.contains(.hold) ? .hold : active.contains(.halfPictures) ? .half : .none)
        }
        self.events.emit(
            "encoder.overload_step",
            [
                "step": .string(change.step.name), "rendition": JSONValue(self.rendition(of: change.step)),
                "taken": .bool(change.isTaken), "lagMs": .integer(change.lag / 1_000_000),
                "steps": JSONValue(steps),
            ])
    }

    func rendition(of step: Overload.Step) -> String? {
        guard case .encoder(let track) = step, self.ladder.rungs.indices.contains(track) else { return nil }
        return self.ladder.rungs[track].name
    }

    private func setDecodingThrift() {
        let isThrifty = self.overload.overload.active.contains(.decoding)
        for (id, slot) in self.slots {
            let isOversized = isThrifty && slot.format.map { self.program.isOversized(id, $0) } ?? false
            slot.buffer.need.setThrift(isThrifty, skipsLoopFilter: isOversized)
        }
    }

    /// As the state shows it.
    var overloadJSON: JSONValue {
        let overload = self.overload.overload
        return [
            "lagMs": .integer(overload.lag / 1_000_000),
            "steps": .array(
                overload.active.map { step in
                    .string([step.name, self.rendition(of: step)].compactMap { $0 }.joined(separator: " "))
                }),
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
