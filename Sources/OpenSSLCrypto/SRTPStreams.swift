/// The indices of the senders of one direction, by SSRC.
struct SRTPStreams {
    struct Stream {
        let ssrc: UInt32
        var window: ReplayWindow
    }

    /// Greatest index of an RTP packet: a rollover counter of 32 bits and a sequence number of 16.
    static let greatestIndex: UInt64 = 1 << 48 - 1

    private(set) var streams: [Stream] = []

    init() { self.streams.reserveCapacity(SRTPReceiver.mostSSRCs) }

    /// Position of a known sender.
    func position(of ssrc: UInt32) -> Int? { self.streams.firstIndex { $0.ssrc == ssrc } }

    var isFull: Bool { self.streams.count >= SRTPReceiver.mostSSRCs }

    subscript(_ position: Int) -> ReplayWindow { self.streams[position].window }

    /// Records an index, of a known sender or of a new one.
    mutating func insert(_ index: UInt64, of ssrc: UInt32, at position: Int?) {
        if let position {
            self.streams[position].window.insert(index)
        } else {
            self.streams.append(Stream(ssrc: ssrc, window: ReplayWindow(first: index)))
        }
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
