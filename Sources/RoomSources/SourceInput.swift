import Ingest
import MediaTypes
import Program

/// Passes a publisher's packets to the decoder. The first packet that can be decoded starts the program. If a publisher
/// sends faster than real time, then its connection is not read while its buffer is full.
final class SourceInput: SourceSubscriber {
    /// The state of the input between two packets, stored in ``RoomSource``.
    struct Flow {
        var pace = PublisherPace()
        var starting = StartingMedia()
        var hold: (@Sendable (Bool) -> Void)?
    }

    private let source: RoomSource
    private let clock: ProgramClock
    private let machine: any MonotonicClock
    private let arrived: @Sendable (Int64) -> Void

    private var stage: DecodeStage { self.source.decode }

    /// - Parameter arrived: Called with the arrival time of media that can start the program, on the monotonic clock.
    init(
        _ source: RoomSource, clock: ProgramClock, machine: any MonotonicClock,
        arrived: @escaping @Sendable (Int64) -> Void
    ) {
        self.source = source
        self.clock = clock
        self.machine = machine
        self.arrived = arrived
    }

    /// Receives the packets of `hub` from now on. Stops reading from the publisher while the buffer is full. While the
    /// source is neither shown nor heard, the hub collects packets to reduce wake-ups.
    func join(_ hub: SourceHub) {
        let token = hub.subscribe(self)
        self.source.changeFlow { $0.hold = { [weak hub] isHeld in hub?.setFull(isHeld, for: token) } }
        self.stage.onRelief { [weak self] in self?.look() }
        self.stage.onKeyFrameWanted { [weak hub] in hub?.requestKeyFrame() }
        self.stage.buffer.need.watchAway { [weak hub] isAway in hub?.setPatient(isAway, for: token) }
    }

    func noteRead(until time: Int64?) { self.source.noteRead(until: time) }

    func cut() { self.stage.cut() }

    func receive(_ item: SourceItem) { self.receive([item]) }

    func receive(_ items: [SourceItem]) {
        let paced = self.paced(items)
        if let arrival = self.source.received(items, paced: paced) { self.arrived(arrival) }
        self.stage.offer(paced)
        self.look()
    }

    /// The items with the arrival times that they would have had in real time.
    private func paced(_ items: [SourceItem]) -> [SourceItem] {
        let moved = self.source.changeFlow { Self.moved(items, &$0.pace) }
        // Usually no packet is moved. Do not merge this with the loop above: the optimizer would then copy the array
        // before the loop in each call, and freeing such a large block makes the allocator trim the heap.
        guard !moved.isEmpty else { return items }
        var paced = items
        for (index, arrival) in moved {
            guard case .packet(var packet) = paced[index] else { continue }
            packet.arrival = arrival
            paced[index] = .packet(packet)
        }
        return paced
    }

    /// Indexes of the packets that arrived earlier than in real time, with the arrival times that they would have had.
    private static func moved(_ items: [SourceItem], _ pace: inout PublisherPace) -> [(index: Int, arrival: Int64)] {
        var moved: [(index: Int, arrival: Int64)] = []
        for (index, item) in items.enumerated() {
            switch item {
            case .configuration: break
            case .packet(let packet):
                let arrival = pace.note(packet)
                if arrival != packet.arrival { moved.append((index, arrival)) }
            case .end: pace.end()
            }
        }
        return moved
    }

    /// Stops or resumes reading from the publisher. Does nothing before the program runs: nothing is decoded then, and
    /// only further packets can start it.
    private func look() {
        guard self.clock.zero != nil else { return }
        self.source.changeFlow { flow in
            // Called while the lock is held, so that two changes cannot arrive in the wrong order. The hub only passes the
            // change on to its event loop.
            if flow.pace.look(at: self.machine.now(), waiting: self.stage.crowdingBytes) {
                flow.hold?(flow.pace.isHeld)
            }
        }
    }
}
