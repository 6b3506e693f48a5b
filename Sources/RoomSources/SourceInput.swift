import Ingest
import MediaTypes
import Program

/// Passes a publisher's packets on to the decoder. The first that can be decoded starts the program; a publisher that sends faster than
/// real time is not read while its buffer is full.
final class SourceInput: SourceSubscriber {
    /// What is kept from packet to packet, as part of ``RoomSource``.
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

    /// - Parameter arrived: Called with the arrival time, on the monotonic clock, of media that can be decoded.
    init(
        _ source: RoomSource, clock: ProgramClock, machine: any MonotonicClock,
        arrived: @escaping @Sendable (Int64) -> Void
    ) {
        self.source = source
        self.clock = clock
        self.machine = machine
        self.arrived = arrived
    }

    /// Reads `hub` from now on. Stops reading the publisher while the buffer is full, and lets the hub collect packets while the source
    /// is neither shown nor heard.
    func join(_ hub: SourceHub) {
        let token = hub.subscribe(self)
        self.source.changeFlow { $0.hold = { [weak hub] isHeld in hub?.setFull(isHeld, for: token) } }
        self.stage.onRelief { [weak self] in self?.look() }
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

    /// The items with the times at which they would have come in real time.
    private func paced(_ items: [SourceItem]) -> [SourceItem] {
        let moved = self.source.changeFlow { Self.moved(items, &$0.pace) }
        // Nearly always. A copy that is only now and then changed in the loop above is made before it, each time: the optimizer takes
        // it out of the loop, and a block as large as that has the heap tidied.
        guard !moved.isEmpty else { return items }
        var paced = items
        for (index, arrival) in moved {
            guard case .packet(var packet) = paced[index] else { continue }
            packet.arrival = arrival
            paced[index] = .packet(packet)
        }
        return paced
    }

    /// The places of packets that came earlier than they would have in real time, and when that is.
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

    /// Before the program runs nothing is decoded, and only what comes can start it.
    private func look() {
        guard self.clock.zero != nil else { return }
        self.source.changeFlow { flow in
            // Told inside the lock, so that two changes cannot arrive in the wrong order; the hub only hops to its loop.
            if flow.pace.look(at: self.machine.now(), waiting: self.stage.crowdingBytes) {
                flow.hold?(flow.pace.isHeld)
            }
        }
    }
}
