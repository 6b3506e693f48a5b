package import MediaTypes

/// What a source has sent and the writer of its recording has not taken yet; bounded by bytes and by number.
///
/// Pure. If the writer is too slow, packets are dropped until there is space again and a key frame arrives, or an audio
/// packet of a publication without video. Configurations and ends are kept, because what follows depends on them; if too
/// many wait, the newest configuration of each track and one end.
package struct SourceRecordingQueue: Sendable {
    /// Most bytes of packets that wait.
    package static let maximumBytes = 32 << 20
    /// Most packets that wait.
    package static let maximumCount = 16_384
    /// Bytes from which the writer is woken at once.
    static let wakeBytes = 1 << 20
    /// Most configurations and ends that wait; before another one is added, packets and superseded ones are dropped.
    static let maximumMarks = 256
    /// Most tracks whose configurations are kept when there are too many configurations and ends.
    static let mostTracks = 32

    /// What the writer takes at once.
    package struct Batch: Sendable {
        package var items: [SourceItem] = []
        /// Packets that were dropped since the last batch.
        package var droppedVideo = 0
        package var droppedAudio = 0
    }

    private var batch = Batch()
    private var bytes = 0
    private var packets = 0
    private var hasVideo = false
    private var isDropping = false

    package init() {}

    /// Adds an item.
    ///
    /// - Returns: Whether the writer must be woken at once; otherwise it may wait for more.
    package mutating func offer(_ item: SourceItem) -> Bool {
        switch item {
        case .configuration(let parameters):
            if parameters.kind == .video { self.hasVideo = true }
            if self.batch.items.count - self.packets >= Self.maximumMarks { self.clear() }
            self.batch.items.append(item)
            return false
        case .end:
            self.hasVideo = false
            if self.batch.items.count - self.packets >= Self.maximumMarks { self.clear() }
            self.batch.items.append(item)
            return true
        case .packet(let packet):
            if self.isDropping {
                let canResume = packet.kind == .video ? packet.isKey : !self.hasVideo
                if canResume, self.bytes < Self.maximumBytes / 2, self.packets < Self.maximumCount / 2 {
                    self.isDropping = false
                }
            } else if self.bytes &+ packet.count > Self.maximumBytes || self.packets >= Self.maximumCount {
                self.isDropping = true
            }
            guard !self.isDropping else {
                if packet.kind == .video { self.batch.droppedVideo += 1 } else { self.batch.droppedAudio += 1 }
                return false
            }
            self.batch.items.append(item)
            self.packets += 1
            self.bytes &+= packet.count
            return self.bytes >= Self.wakeBytes
        }
    }

    /// Drops everything that waits but the newest configuration of each track and the end before them, because a
    /// publisher changes its format faster than the disk writes.
    private mutating func clear() {
        var hasEnd = false
        var known: [CodecParameters] = []
        for item in self.batch.items {
            switch item {
            case .packet(let packet):
                if packet.kind == .video { self.batch.droppedVideo += 1 } else { self.batch.droppedAudio += 1 }
            case .end: (hasEnd, known) = (true, [])
            case .configuration(let parameters):
                known.removeAll { $0.kind == parameters.kind && $0.track == parameters.track }
                if known.count < Self.mostTracks { known.append(parameters) }
            }
        }
        self.batch.items = (hasEnd ? [.end] : []) + known.map { .configuration($0) }
        (self.bytes, self.packets) = (0, 0)
        self.isDropping = true
    }

    /// Removes everything that waits and returns it.
    package mutating func take() -> Batch {
        let batch = self.batch
        self.batch = Batch()
        (self.bytes, self.packets) = (0, 0)
        return batch
    }
}
