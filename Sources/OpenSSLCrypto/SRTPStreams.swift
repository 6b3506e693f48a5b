/// The indices of the senders of one direction, by SSRC.
///
/// At most ``SRTPReceiver/mostSSRCs`` are known. A receiver forgets the replay window of the one that was silent for longest,
/// if others have sent ``patience`` packets since, when a new one needs its place. The highest index of a forgotten sender
/// is kept, so that none of its packets can be replayed.
struct SRTPStreams {
    struct Stream {
        let ssrc: UInt32
        var window: ReplayWindow
        /// Value of ``packets`` at the sender's last packet.
        var last: UInt64
    }

    /// Greatest index of an RTP packet: a rollover counter of 32 bits and a sequence number of 16.
    static let greatestIndex: UInt64 = 1 << 48 - 1
    /// Number of forgotten senders whose highest index is kept. A peer that uses more SSRCs only enables replays of its own
    /// old packets.
    static let mostForgotten = 64

    private(set) var streams: [Stream] = []
    /// Forgotten senders, the latest last.
    private(set) var forgotten: [(ssrc: UInt32, highest: UInt64)] = []
    /// Number of packets of all senders.
    private var packets: UInt64 = 0
    private let patience: UInt64

    /// - Parameter patience: Number of packets of other senders after which a sender may be forgotten.
    init(patience: UInt64 = .max) {
        self.patience = patience
        self.streams.reserveCapacity(SRTPReceiver.mostSSRCs)
    }

    /// Position of a known sender.
    func position(of ssrc: UInt32) -> Int? { self.streams.firstIndex { $0.ssrc == ssrc } }

    var isFull: Bool { self.streams.count >= SRTPReceiver.mostSSRCs }

    /// Whether a new sender can be recorded.
    var hasRoom: Bool { !self.isFull || self.silent != nil }

    subscript(_ position: Int) -> ReplayWindow { self.streams[position].window }

    /// The highest index of a sender that was forgotten; nil for others.
    func forgottenIndex(of ssrc: UInt32) -> UInt64? { self.forgotten.first { $0.ssrc == ssrc }?.highest }

    /// Position of the sender that may be forgotten; nil if there is none.
    private var silent: Int? {
        let oldest = self.streams.indices.min { self.streams[$0].last < self.streams[$1].last }
        return oldest.flatMap { self.packets - self.streams[$0].last >= self.patience ? $0 : nil }
    }

    /// Records an index, of a known sender or of a new one.
    mutating func insert(_ index: UInt64, of ssrc: UInt32, at position: Int?) {
        self.packets += 1
        if let position {
            self.streams[position].window.insert(index)
            self.streams[position].last = self.packets
            return
        }
        var window = ReplayWindow(first: index)
        if let place = self.forgotten.firstIndex(where: { $0.ssrc == ssrc }) {
            window = ReplayWindow(through: self.forgotten.remove(at: place).highest)
            window.insert(index)
        }
        if self.isFull, let silent {
            let old = self.streams.remove(at: silent)
            self.forgotten.append((old.ssrc, old.window.highest))
            if self.forgotten.count > Self.mostForgotten { self.forgotten.removeFirst() }
        }
        self.streams.append(Stream(ssrc: ssrc, window: window, last: self.packets))
    }

    /// The most likely index of an RTP packet.
    ///
    /// Spec: RFC 3711 §3.3.1 and appendix A. With a rollover counter of 0, a sequence number far ahead is taken as one
    /// of the same round, since there is none before.
    ///
    /// - Parameter highest: The highest index of the sender so far.
    /// - Returns: `nil` if the rollover counter has no next value.
    static func index(of sequence: UInt16, highest: UInt64) -> UInt64? {
        let (round, last, next) = (highest >> 16, highest & 0xFFFF, UInt64(sequence))
        let guess: UInt64
        if last < 0x8000 {
            guess = next > last + 0x8000 && round > 0 ? round - 1 : round
        } else {
            guess = last - 0x8000 > next ? round + 1 : round
        }
        let index = guess << 16 | next
        return index <= Self.greatestIndex ? index : nil
    }
}
