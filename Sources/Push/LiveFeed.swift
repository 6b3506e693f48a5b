package import MediaTypes
package import NIOCore
package import Threading
import Synchronization

/// Receives the tags of a live rendition.
package protocol LiveReader: AnyObject, Sendable {
    /// Receives tags in order; the first ones are the backlog. Called on the outputs' event loop; must not block.
    func receive(_ tags: [LiveTag], now: Int64)
    /// Reports that the feed has ended. Called on the outputs' event loop or, if that loop has ended, on the thread that
    /// adds the reader.
    func ended()
}

/// One live rendition as FLV tags, for any number of readers.
///
/// The encoders' threads only append packets to a list; tags are made and delivered on the outputs' event loop, so that
/// readers cost an encoder at most one wake-up.
///
/// States: *resting* (no packets are needed: they are dropped, and only the track configurations are kept) → ``hold()``
/// → *awake* (tags are delivered from the next key frame on, and those since the latest one are kept for new readers)
/// → the last ``letGo()`` → resting.
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
        /// Number of ``LiveFeed/hold()`` calls that no ``LiveFeed/letGo()`` has undone.
        var holders: Int
    }

    private struct State {
        var core: FeedCore
        var readers: [any LiveReader] = []
        var isOver = false
    }

    /// Maximum number of items that wait for the event loop: far more than normal, and bounded if the loop is stuck.
    /// Further packets, configurations and bit rates are dropped.
    private static let mostWaiting = 8_192

    /// Name of the rendition.
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

    /// Creates the feed of one rendition.
    ///
    /// - Parameters:
    ///   - makesFiles: True to make each tag also in the form of an FLV file; then the feed is always awake.
    ///   - gate: Access to the event loop; closed before the loop ends.
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

    // MARK: Calls from the encoders

    /// True while packets are needed. While it is false, ``receive(_:)`` drops packets.
    package var isAwake: Bool { self.isHeld.load(ordering: .relaxed) }

    /// Queues the next packet of the rendition for the event loop; drops it if the feed rests, or if too many items wait.
    /// The packets of one track must come from one thread.
    package func receive(_ packet: CodedPacket) { self.put(.packet(packet)) }

    /// Queues a new configuration of a track; see ``FeedCore/configure(_:size:isPlaced:)``.
    ///
    /// - Parameter width: Width of the video in pixels, with `height`; 0: unchanged.
    package func configure(_ parameters: CodecParameters, width: Int = 0, height: Int = 0, isPlaced: Bool? = nil) {
        self.put(.configuration(parameters, width: width, height: height, isPlaced: isPlaced))
    }

    /// Queues a new bit rate of the video, in bits per second; see ``FeedCore/setVideoBitrate(_:)``.
    package func setVideoBitrate(_ bitrate: Int) { self.put(.videoBitrate(bitrate)) }

    private func put(_ item: Item) {
        let wakes = self.intake.withLock { intake in
            if case .packet = item, intake.holders == 0 { return false }
            guard intake.items.count < Self.mostWaiting else { return false }
            return Self.append(item, to: &intake)
        }
        if wakes { self.tell { self.handOut() } }
    }

    /// Runs `work` on the event loop soon. Readers may be added and removed after the outputs have stopped.
    ///
    /// - Returns: False if the loop has ended; then `work` never runs.
    @discardableResult
    private func tell(_ work: @escaping @Sendable () -> Void) -> Bool {
        self.gate.pass { self.loop.execute(work) }
    }

    /// Appends an item to the list for the event loop.
    ///
    /// - Returns: True if the event loop must be woken.
    private static func append(_ item: Item, to intake: inout Intake) -> Bool {
        intake.items.append(item)
        defer { intake.isWoken = true }
        return !intake.isWoken
    }

    // MARK: Calls from readers

    /// Declares that packets are needed, until ``letGo()`` has been called as often as ``hold()``. Call it before
    /// ``add(_:)``; any thread may call.
    package func hold() {
        self.intake.withLock { intake in
            intake.holders += 1
            self.isHeld.store(true, ordering: .relaxed)
        }
    }

    /// Undoes one call of ``hold()``.
    package func letGo() {
        // Queued as an item, between the last packet that is needed and the first that is needed again.
        let wakes = self.intake.withLock { intake in
            intake.holders = max(0, intake.holders - 1)
            guard intake.holders == 0 else { return false }
            self.isHeld.store(false, ordering: .relaxed)
            return Self.append(.rest, to: &intake)
        }
        if wakes { self.tell { self.handOut() } }
    }

    /// Delivers the backlog to the reader and then every new tag; calls ``LiveReader/ended()`` if the feed has ended.
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

    /// Current number of readers, including outputs.
    package var readers: Int { self.readerCount.load(ordering: .relaxed) }

    /// The tags with which a reader starts again after a reconnect. Use it only on the event loop.
    var backlog: [LiveTag] { self.state.value.core.backlog }

    /// Ends the feed: readers get all tags, also those of audio that waits for video, and then ``LiveReader/ended()``.
    package func end() {
        self.tell {
            self.handOut()
            self.state.value.core.finish()
            self.deliver()
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
        self.deliver()
    }

    private func deliver() {
        let tags = self.state.value.core.takeOutput()
        guard !tags.isEmpty else { return }
        let now = self.clock.now()
        for reader in self.state.value.readers { reader.receive(tags, now: now) }
    }
}
