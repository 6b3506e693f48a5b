/// Wire format: draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1.
extension RTCPTransportFeedback {
    /// Maximum number of packets in a message: more than any sender has in flight. Bounds what a short message with long runs
    /// can allocate.
    static let mostPackets = 8191
    /// 250 µs units in 64 ms, the unit of the reference time.
    private static let perReference: Int64 = 256

    /// Reads the part of a message after the SSRCs; nil if it is malformed.
    init?(sender: UInt32, media: UInt32, bytes: [UInt8], body: Range<Int>) {
        guard body.count >= 8 else { return nil }
        let count = Int(NetworkOrder.read16(bytes, at: body.lowerBound + 2))
        let head = NetworkOrder.read32(bytes, at: body.lowerBound + 4)
        guard count > 0, count <= Self.mostPackets else { return nil }
        var at = body.lowerBound + 8
        // Size in bytes of each packet's delta: 0 means that it did not arrive.
        var sizes: [UInt8] = []
        sizes.reserveCapacity(count)
        while sizes.count < count {
            guard at + 2 <= body.upperBound else { return nil }
            let chunk = NetworkOrder.read16(bytes, at: at)
            at += 2
            if chunk & 0x8000 == 0 {
                let run = min(Int(chunk & 0x1FFF), count - sizes.count)
                guard run > 0 else { return nil }
                sizes.append(contentsOf: repeatElement(UInt8(chunk >> 13 & 3), count: run))
            } else if chunk & 0x4000 == 0 {
                for bit in 0..<min(14, count - sizes.count) { sizes.append(UInt8(chunk >> UInt16(13 - bit) & 1)) }
            } else {
                for pair in 0..<min(7, count - sizes.count) { sizes.append(UInt8(chunk >> UInt16(12 - 2 * pair) & 3)) }
            }
        }
        // The reference time has 24 bits with sign.
        var time = Int64(Int32(bitPattern: head) >> 8) * Self.perReference
        var arrivals: [Int64?] = []
        arrivals.reserveCapacity(count)
        for size in sizes {
            switch size {
            case 0:
                arrivals.append(nil)
                continue
            case 1:
                guard at + 1 <= body.upperBound else { return nil }
                time += Int64(bytes[at])
                at += 1
            case 2:
                guard at + 2 <= body.upperBound else { return nil }
                time += Int64(Int16(bitPattern: NetworkOrder.read16(bytes, at: at)))
                at += 2
            default: return nil
            }
            arrivals.append(time)
        }
        self.init(
            sender: sender, media: media, base: NetworkOrder.read16(bytes, at: body.lowerBound),
            number: UInt8(truncatingIfNeeded: head), arrivals: arrivals)
    }
}
