package import MediaKernels

/// Two bytes of closed captions as video carries them: a `cc_data_pkt`.
///
/// Spec: ANSI/CTA-708 §4.3.1, ATSC A/53 Part 4 §6.2.3.
package struct CaptionPair: Sendable, Hashable {
    /// What the bytes belong to; the raw value is `cc_type`.
    package enum Kind: UInt8, Sendable {
        /// CEA-608 of field 1 (CC1 and CC2).
        case field1 = 0
        /// CEA-608 of field 2 (CC3 and CC4).
        case field2 = 1
        /// The continuation of a CEA-708 packet.
        case continuation = 2
        /// The beginning of a CEA-708 packet.
        case start = 3
    }

    package let kind: Kind
    package let first: UInt8
    package let second: UInt8

    package init(_ kind: Kind, _ first: UInt8, _ second: UInt8) {
        self.kind = kind
        self.first = first
        self.second = second
    }

    /// Whether the bytes are CEA-608; otherwise they are CEA-708.
    package var isLine21: Bool { self.kind == .field1 || self.kind == .field2 }
    /// Whether CEA-608 sends nothing in this field, which is two bytes of zero apart from their parity bits.
    package var isFiller: Bool { self.isLine21 && self.first & 0x7F == 0 && self.second & 0x7F == 0 }
    /// Whether the bytes are a control code of CEA-608.
    package var isControl: Bool { self.isLine21 && (0x10...0x1F).contains(self.first & 0x7F) }
}

extension CaptionPair {
    /// Number of pairs in an access unit after which no further message is read: a second of captions.
    package static let mostPerFrame = 600

    /// Returns the closed captions of an access unit, in order, without those that are marked as not valid. Does not
    /// allocate if there are none. After ``mostPerFrame`` pairs, the messages that follow are ignored.
    ///
    /// - Parameters:
    ///   - range: NAL units with four-byte lengths.
    ///   - isHEVC: Whether the units are HEVC; otherwise they are H.264.
    package static func read(_ memory: PacketMemory, in range: Range<Int>, isHEVC: Bool) -> [CaptionPair] {
        var pairs: [CaptionPair] = []
        for message in SEIMessages(memory, in: range, endsAtPicture: true, isHEVC: isHEVC)
        where message.type == CaptionMessage.payloadType {
            var payload = message.payload
            guard CaptionMessage.prefix.allSatisfy({ payload.next() == $0 }), let flags = payload.next(),
                flags & 0x40 != 0, payload.next() != nil
            else { continue }
            for _ in 0..<flags & 0x1F {
                guard let head = payload.next(), let first = payload.next(), let second = payload.next() else { break }
                guard head & 0x04 != 0, let kind = Kind(rawValue: head & 0x03) else { continue }
                pairs.append(CaptionPair(kind, first, second))
            }
            if pairs.count >= Self.mostPerFrame { break }
        }
        return pairs
    }
}

/// The SEI message that carries closed captions.
///
/// Spec: ATSC A/53 Part 4 §6.2.3; ITU-T H.264 §D.1.5 (`user_data_registered_itu_t_t35`).
package enum CaptionMessage {
    /// SEI payload type of `user_data_registered_itu_t_t35`.
    static let payloadType = 4
    /// Country code (United States), provider code (ATSC), `GA94`, and the `user_data_type_code` of `cc_data`.
    static let prefix: [UInt8] = [0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03]
    /// Maximum number of pairs in a message: `cc_count` has 5 bits.
    package static let mostPairs = 31

    /// Returns the message's payload.
    ///
    /// - Parameter pairs: Up to ``mostPairs``, CEA-608 first; the rest is left out.
    package static func payload(_ pairs: [CaptionPair]) -> [UInt8] {
        let pairs = pairs.prefix(Self.mostPairs)
        var bytes = Self.prefix
        // process_cc_data_flag, and em_data, which must be 0xFF.
        bytes += [0x40 | UInt8(pairs.count), 0xFF]
        for pair in pairs { bytes += [0xFC | pair.kind.rawValue, pair.first, pair.second] }
        bytes.append(0xFF)
        return bytes
    }
}
