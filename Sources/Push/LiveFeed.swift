package import MediaTypes
package import NIOCore
package import Stages
import Synchronization

/// Reads a rendition on air.
package protocol LiveReader: AnyObject, Sendable {
    /// Tags in order; the first ones are the backlog. On the outputs' event loop; must not block.
    func receive(_ tags: [LiveTag], now: Int64)
    /// No more comes. On the outputs' event loop, or on the thread that adds the reader when it is over.
    func ended()
}

/// One rendition on air as FLV tags, for any number of readers.
///
/// The ladder's thread only puts packets on a list; tags are made and handed out on the outputs' event loop, so that no
/// reader costs an encoder more than one wake-up.
///
/// States: *resting* (nobody wants the packets: they are dropped, and only how tracks are coded is kept) → ``hold()`` →
/// *awake* (tags from the next key picture on, and those since the last one) → the last ``letGo()`` → resting.
package final class LiveFeed: Sendable {
    private enum Item: Sendable {
        case configuration(CodecParameters, width: Int, height: Int, isPlaced: Bool?)
        case videoBitrate(Int)
        case packet(CodedPacket)
        case rest
    }

    private struct Intake {
        var items: [Item] = []
        var isWoken = false
        /// How many want the packets.
        var holders: Int
    }

    private struct State {
        var core: FeedCore
        var readers: [any LiveReader] = []
        var isOver = false
    }

    /// Packets that may wait for the event loop: far more than ever do, and no more than a stuck one may cost.
    private static let mostWaiting = 8_192

    /// Of the rendition.
    package let name: String
    package let hasVideo: Bool
    package let hasAudio: Bool
    private let clock: any MonotonicClock
    private let loop: any EventLoop
    private let gate: Gate
    private let intake: Mutex<Intake>
    private let isHeld: Atomic<Bool>
    private let state: NIOLoopBoundBox<State>
    private let readerCount = Atomic<Int>(0)

    /// - Parameters:
    ///   - makesFiles: Somebody may ask for the tags as a file has them.
    ///   - gate: To the event loop; closed before that ends.
    package init(
        _ description: FeedDescription, makesFiles: Bool, clock: any MonotonicClock, loop: any EventLoop, gate: Gate
    ) {
        self.name = description.name
        self.hasVideo = description.hasVideo
        self.hasAudio = description.hasAudio
        self.clock = clock
        self.loop = loop
        self.gate = gate
        self.intake = Mutex(Intake(holders: makesFiles ? 1 : 0))
        self.isHeld = Atomic(makesFiles)
        self.state = NIOLoopBoundBox.makeBoxSendingValue(
            State(core: FeedCore(description, makesFiles: makesFiles)), eventLoop: loop)
    }

    // MARK: The encoders' side

    /// Somebody wants the packets. One that is told ``receive(_:)`` all the same drops them.
    package var isAwake: Bool { self.isHeld.load(ordering: .relaxed) }

    /// The next packet; each track has one calling thread.
    package func receive(_ packet: CodedPacket) { self.put(.packet(packet)) }

    /// See ``FeedCore/configure(_:size:isPlaced:)``.
    ///
    /// - Parameter width: Of the pictures in pixels, with `height`; 0: as before.
    package func configure(_ parameters: CodecParameters, width: Int = 0, height: Int = 0, isPlaced: Bool? = nil) {
        self.put(.configuration(parameters, width: width, height: height, isPlaced: isPlaced))
    }

    /// See ``FeedCore/setVideoBitrate(_:)``.
    package func setVideoBitrate(_ bitrate: Int) { self.put(.videoBitrate(bitrate)) }

    private func put(_ item: Item) {
        let wakes = self.intake.withLock { intake in
            if case .packet = item, intake.holders == 0 { return false }
            guard intake.items.count < Self.mostWaiting else { return false }
            return Self.append(item, to: &intake)
        }
        if wakes { self.tell { self.handOut() } }
    }

    /// Does `work` on the event loop soon. Readers may come and go when the outputs have stopped.
    ///
    /// - Returns: false: never, the loop is over.
    @discardableResult
    private func tell(_ work: @escaping @Sendable () -> Void) -> Bool {
        self.gate.pass { self.loop.execute(work) }
    }

    /// - Returns: Whether the event loop is to be woken.
    private static func append(_ item: Item, to intake: inout Intake) -> Bool {
        intake.items.append(item)
        defer { intake.isWoken = true }
        return !intake.isWoken
    }

    // MARK: The readers' side

    /// From here on packets are wanted, until as many ``letGo()``. Any thread; before ``add(_:)``.
    package func hold() {
        self.intake.withLock { intake in
            intake.holders += 1
            self.isHeld.store(true, ordering: .relaxed)
        }
    }

    /// Undoes one ``hold()``.
    package func letGo() {
        // In the list, between the last packet that is wanted and the first that is wanted again.
        let wakes = self.intake.withLock { intake in
            intake.holders = max(0, intake.holders - 1)
            guard intake.holders == 0 else { return false }
            self.isHeld.store(false, ordering: .relaxed)
            return Self.append(.rest, to: &intake)
        }
        if wakes { self.tell { self.handOut() } }
    }

    /// Hands the backlog over, and everything that comes; at once no more of it when it is over.
    package func add(_ reader: any LiveReader) {
        let isThere = self.tell {
            self.handOut()
            guard !self.state.value.isOver else { return reader.ended() }
            self.state.value.readers.append(reader)
            self.readerCount.store(self.state.value.readers.count, ordering: .relaxed)
            reader.receive(self.state.value.core.backlog, now: self.clock.now())
        }
        if !isThere { reader.ended() }
    }

    package func remove(_ reader: any LiveReader) {
        self.tell {
            self.state.value.readers.removeAll { $0 === reader }
            self.readerCount.store(self.state.value.readers.count, ordering: .relaxed)
        }
    }

    /// Readers now, outputs included.
    package var readers: Int { self.readerCount.load(ordering: .relaxed) }

    /// For a reader that begins anew; on the event loop.
    var backlog: [LiveTag] { self.state.value.core.backlog }

    /// The last packet has come: readers get what is left, and are told.
    package func end() {
        self.tell {
            self.handOut()
            self.state.value.isOver = true
            let readers = self.state.value.readers
            self.state.value.readers = []
            self.readerCount.store(0, ordering: .relaxed)
            for reader in readers { reader.ended() }
        }
    }

    private func handOut() {
        let items = self.intake.withLock { intake in
            defer { (intake.items, intake.isWoken) = ([], false) }
            return intake.items
        }
        for item in items {
            switch item {
            case .configuration(let parameters, let width, let height, let isPlaced):
                self.state.value.core.configure(
                    parameters, size: width > 0 && height > 0 ? (width, height) : nil, isPlaced: isPlaced)
            case .packet(let packet): self.state.value.core.receive(packet)
            case .videoBitrate(let bitrate): self.state.value.core.setVideoBitrate(bitrate)
            case .rest: self.state.value.core.rest()
            }
        }
        let tags = self.state.value.core.takeOutput()
        guard !tags.isEmpty else { return }
        let now = self.clock.now()
        for reader in self.state.value.readers { reader.receive(tags, now: now) }
    }
}
