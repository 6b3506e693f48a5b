import MediaKernels

/// The header of an Enhanced RTMP audio or video message, and the location of each track's part.
///
/// Reads untrusted bytes: every length is checked, the numbers of modifiers and tracks are limited, nothing recurses.
///
/// Spec: Enhanced RTMP v2, `ExVideoTagHeader`/`ExVideoTagBody`, `ExAudioTagHeader`/`ExAudioTagBody`.
struct EnhancedTag {
    /// `VideoPacketType` and `AudioPacketType`; only the number for multitrack differs between them.
    enum PacketType: UInt8 {
        case sequenceStart = 0
        case codedFrames = 1
        case sequenceEnd = 2
        /// Video: coded frames without a composition offset.
        case codedFramesX = 3
        /// Video: metadata such as colors. Audio: the channel layout.
        case metadata = 4
        /// Video: an AV1 sequence start in MPEG-2 TS format.
        case transportSequenceStart = 5
    }

    /// The part of one track in the message.
    struct Part {
        var codec: FourCC
        var track: UInt8
        /// Byte range of the part in the message; may be empty.
        var range: Range<Int>
    }

    /// Maximum number of parts (tracks) in one message; more than any encoder sends.
    static let maximumParts = 16
    static let maximumModifiers = 16
    private static let modifier: UInt8 = 7

    /// Type of the message; `nil` for an undefined type and for a command to the player (video frame type 5). Such a
    /// message is ignored.
    let packetType: PacketType?
    /// Nanoseconds (0 to 999,999) that are added to the presentation time of the message.
    let nanoseconds: Int64
    private(set) var parts: [Part] = []
    /// True if a multitrack message has no part, is truncated among its parts, or has too many of them; ``parts`` holds
    /// the intact parts before.
    private(set) var isDamaged = false

    /// Reads the header of a message and finds the part of each track.
    ///
    /// - Returns: `nil` if the message ends before its header does, contradicts itself, or has too many modifiers.
    init?(_ payload: PacketMemory, isVideo: Bool) {
        guard let first = payload.byte(at: 0) else { return nil }
        var offset = 1
        var type = first & 0x0F
        var modifiers = 0
        var nanoseconds: Int64 = 0
        while type == EnhancedTag.modifier {
            modifiers += 1
            guard modifiers <= EnhancedTag.maximumModifiers,
                let next = EnhancedTag.readModifier(payload, at: &offset, &nanoseconds)
            else { return nil }
            type = next
        }
        self.nanoseconds = nanoseconds
        // A command (frame type 5) has one byte for the player and nothing else. Metadata is sent with this frame type
        // too.
        if isVideo, type != PacketType.metadata.rawValue, first >> 4 & 7 == 5 {
            self.packetType = nil
            return
        }
        let multitrack: UInt8 = isVideo ? 6 : 5
        guard type == multitrack else {
            self.packetType = PacketType(rawValue: type)
            guard let letters = payload.unsigned32(at: offset) else { return nil }
            self.parts = [
                Part(codec: FourCC(rawValue: letters), track: 0, range: offset + 4..<max(offset + 4, payload.count))
            ]
            return
        }
        guard let byte = payload.byte(at: offset), byte & 0x0F != multitrack, byte >> 4 <= 2 else { return nil }
        self.packetType = PacketType(rawValue: byte & 0x0F)
        self.readParts(payload, from: offset + 1, form: byte >> 4)
    }

    /// Reads one modifier of an Enhanced RTMP header.
    ///
    /// - Returns: The type after the modifier; `nil` if the message ends in it.
    private static func readModifier(
        _ payload: PacketMemory, at offset: inout Int, _ nanoseconds: inout Int64
    ) -> UInt8? {
        guard let small = payload.byte(at: offset) else { return nil }
        offset += 1
        var size = Int(small) + 1
        if size == 256 {
            guard let high = payload.byte(at: offset), let low = payload.byte(at: offset + 1) else { return nil }
            size = (Int(high) << 8 | Int(low)) + 1
            offset += 2
        }
        guard let next = payload.byte(at: offset + size) else { return nil }
        // Type 0 is the offset in nanoseconds, 24 bits; the last valid one counts.
        if next >> 4 == 0, size >= 3, let offset = payload.unsigned24(at: offset), offset <= 999_999 {
            nanoseconds = Int64(offset)
        }
        offset += size + 1
        return next & 0x0F
    }

    /// Finds the part of each track in the message.
    ///
    /// - Parameter form: 0 one track, 1 many tracks of one codec, 2 many tracks with a codec each.
    private mutating func readParts(_ payload: PacketMemory, from start: Int, form: UInt8) {
        var offset = start
        var common: UInt32 = 0
        if form != 2 {
            guard let letters = payload.unsigned32(at: offset) else {
                self.isDamaged = true
                return
            }
            common = letters
            offset += 4
        }
        while offset < payload.count {
            var letters = common
            if form == 2 {
                guard let own = payload.unsigned32(at: offset) else { break }
                letters = own
                offset += 4
            }
            guard self.parts.count < EnhancedTag.maximumParts, let track = payload.byte(at: offset) else { break }
            offset += 1
            var size = payload.count - offset
            if form != 0 {
                guard let coded = payload.unsigned24(at: offset), Int(coded) <= payload.count - offset - 3 else {
                    break
                }
                size = Int(coded)
                offset += 3
            }
            self.parts.append(Part(codec: FourCC(rawValue: letters), track: track, range: offset..<offset + size))
            offset += size
            if form == 0 { return }
        }
        self.isDamaged = self.isDamaged || offset < payload.count || self.parts.isEmpty
    }
}
