import Ingest
import MediaTypes
import Program
import Synchronization

/// A publisher's packets on their way into the room: the first decodable one starts the program, and one who sends more than can be
/// shown is not read on until there is room.
final class SourceInput: SourceSubscriber {
    private struct Flow {
        var pace = PublisherPace()
        var starting = StartingMedia()
        var hold: (@Sendable (Bool) -> Void)?
    }

    private let stage: DecodeStage
    private let arrivals: SourceArrivals
    private let clock: ProgramClock
    private let machine: any MonotonicClock
    private let arrived: @Sendable (Int64) -> Void
    private let flow = Mutex(Flow())

    /// - Parameter arrived: Told when something decodable has come, with the machine's time.
    init(
        stage: DecodeStage, arrivals: SourceArrivals, clock: ProgramClock, machine: any MonotonicClock,
        arrived: @escaping @Sendable (Int64) -> Void
    ) {
        self.stage = stage
        self.arrivals = arrivals
        self.clock = clock
        self.machine = machine
        self.arrived = arrived
    }

    /// Reads `hub` from now on, and holds its publisher when there is no room.
    func join(_ hub: SourceHub) {
        let token = hub.subscribe(self)
        self.flow.withLock { $0.hold = { [weak hub] isHeld in hub?.setFull(isHeld, for: token) } }
        self.stage.onRelief { [weak self] in self?.look() }
    }

    var isPatient: Bool { self.stage.buffer.need.isAway }

    func noteRead(until time: Int64?) { self.arrivals.noteRead(until: time) }

    func cut() { self.stage.cut() }

    func receive(_ item: SourceItem) { self.receive([item]) }

    func receive(_ items: [SourceItem]) {
        let paced = self.paced(items)
        self.arrivals.note(paced)
        if let arrival = self.flow.withLock({ $0.starting.note(items) }) { self.arrived(arrival) }
        self.stage.offer(paced)
        self.look()
    }

    /// The items with the times at which they would have come in real time.
    private func paced(_ items: [SourceItem]) -> [SourceItem] {
        self.flow.withLock { flow in
            var paced = items
            for (index, item) in items.enumerated() {
                switch item {
                case .configuration: break
                case .packet(var packet):
                    let arrival = flow.pace.note(packet)
                    guard arrival != packet.arrival else { continue }
                    packet.arrival = arrival
                    paced[index] = .packet(packet)
                case .end: flow.pace.end()
                }
            }
            return paced
        }
    }

    /// Before the program runs nothing is decoded, and only what comes can start it.
    private func look() {
        guard self.clock.zero != nil else { return }
        self.flow.withLock { flow in
            // Told inside the lock, so that two changes cannot arrive in the wrong order; the hub only hops to its loop.
            if flow.pace.look(at: self.machine.now(), waiting: self.stage.crowdingBytes) {
                flow.hold?(flow.pace.isHeld)
            }
        }
    }
}
