package import MediaTypes

/// An access unit, audio frame or metadata to be carried by MPEG-TS. Times are 90 kHz ticks since the room's origin and
/// do not wrap at 33 bits.
package struct StreamUnit: Sendable {
    package enum Content: Sendable {
        /// A video access unit: NAL units with four-byte lengths.
        case picture(isKey: Bool)
        /// An AAC frame without ADTS header.
        case audio
        /// An ID3v2.4 tag.
        case metadata
    }

    package let content: Content
    package let bytes: [UInt8]
    /// Presentation time.
    package let pts: Int64
    /// Decoding time; not after ``pts``.
    package let dts: Int64

    package init(_ content: Content, _ bytes: [UInt8], pts: Int64, dts: Int64? = nil) {
        self.content = content
        self.bytes = bytes
        self.pts = pts
        self.dts = min(pts, dts ?? pts)
    }
}

/// Writes the media segments of one rendition as an MPEG-2 transport stream with video, audio and metadata.
///
/// Call ``segment(_:parameters:isDiscontinuous:)`` once for each segment, in order. Every segment begins with a program
/// association and a program map table; continuity counters continue from segment to segment.
///
/// Invariants:
/// (1) The result is whole packets of 188 bytes.
/// (2) Clock references are at most ``longestClockGap`` apart, except at a discontinuity and at a gap of 60 seconds or
///     more. They are on the video stream, or on the audio stream if there is no video.
/// (3) Units are written in the order of their decoding times. Except at a discontinuity, the clock never decreases,
///     and decoding times of video increase strictly, unless a frame's presentation time is not after the decoding time
///     of the frame before it: then its own decoding time stays. Encoders make no such frames.
/// (4) A clock reference precedes the first unit. At a discontinuity the first packet of each stream has the
///     discontinuity indicator, since another worker's continuity counters may differ.
///
/// Spec: ISO/IEC 13818-1 §2.4; RFC 8216bis §3.1.1; Apple, Timed Metadata for HTTP Live Streaming.
package struct MPEGTSMuxer: Sendable {
    /// The elementary streams of a segment.
    package struct Parameters: Sendable, Hashable {
        /// H.264 configuration; `nil` without video.
        package let video: AVCConfiguration?
        /// AAC configuration; `nil` without audio.
        package let audio: AudioSpecificConfig?
        /// Whether there is a stream for timed metadata.
        package let hasMetadata: Bool

        package init(video: AVCConfiguration?, audio: AudioSpecificConfig?, hasMetadata: Bool) {
            self.video = video
            self.audio = audio
            self.hasMetadata = hasMetadata
        }
    }

    /// Ticks per second of all times in MPEG-TS.
    package static let timescale: Int64 = 90_000
    /// Ticks that are added to every time, so that decoding times and the clock are positive from the first frame on.
    package static let timeOffset: Int64 = 10 * Self.timescale
    /// Ticks by which the clock reference (PCR) precedes the decoding times: room for a decoder's buffer, as in other
    /// muxers.
    private static let clockLead: Int64 = Self.timescale * 7 / 10
    /// Maximum distance between two clock references (PCR), in ticks: 90 ms, since §2.7.2 allows 100 ms.
    package static let longestClockGap: Int64 = Self.timescale * 9 / 100
    /// AAC frames per PES packet: 85 ms at 48 kHz.
    private static let framesPerPacket = 4
    /// Maximum size of a metadata payload in bytes: a PES packet has a 16-bit length, which includes eight header
    /// bytes.
    private static let longestMetadata = 0xFFFF - 8
    // Packet identifiers.
    private static let tables: UInt16 = 0
    private static let map: UInt16 = 0x1000
    private static let video: UInt16 = 0x100
    private static let audio: UInt16 = 0x101
    private static let metadata: UInt16 = 0x102

    private var writer = MPEGTSPacketWriter()
    /// The last clock reference, in ticks including ``timeOffset``.
    private var lastClock: Int64?
    /// Decoding time of the last video frame.
    private var lastPicture: Int64?

    package init() {}

    /// Returns the bytes of the next segment.
    ///
    /// - Parameters:
    ///   - units: Units in any order, but those of one kind in decoding order.
    ///   - isDiscontinuous: Whether time or the continuity counters do not continue from the previous segment.
    package mutating func segment(
        _ units: [StreamUnit], parameters: Parameters, isDiscontinuous: Bool = false
    ) -> [UInt8] {
        let total = units.reduce(0) { $0 &+ $1.bytes.count }
        self.writer.reserve(total &+ total / 8 &+ 4_096)
        self.writer.section(Self.association, pid: Self.tables)
        self.writer.section(Self.mapSection(parameters), pid: Self.map)
        if isDiscontinuous { (self.lastClock, self.lastPicture) = (nil, nil) }
        var unmarked: Set<UInt16> = isDiscontinuous ? [Self.video, Self.audio, Self.metadata] : []
        let clockPID = parameters.video == nil ? Self.audio : Self.video
        for packet in self.packets(units, parameters) {
            let clock = packet.dts &- Self.clockLead &+ Self.timeOffset
            var adaptation = MPEGTSPacketWriter.Adaptation(isRandomAccess: packet.isRandomAccess)
            if packet.pid == clockPID {
                self.fillClock(upTo: clock, pid: clockPID)
                let shown = max(clock, self.lastClock ?? clock)
                adaptation.clock = shown
                self.lastClock = shown
            } else if let last = self.lastClock {
                if clock &- last > Self.longestClockGap { self.fillClock(upTo: clock, pid: clockPID) }
            } else {
                self.writer.clock(clock, pid: clockPID, isDiscontinuous: unmarked.remove(clockPID) != nil)
                self.lastClock = clock
            }
            adaptation.isDiscontinuous = unmarked.remove(packet.pid) != nil
            self.writer.stream(packet.bytes, pid: packet.pid, adaptation: adaptation)
        }
        return self.writer.take()
    }

    /// Writes clock references up to a time if the last one is further before it than invariant (2) allows. Gaps of 60
    /// seconds or more are not filled.
    private mutating func fillClock(upTo clock: Int64, pid: UInt16) {
        guard let last = self.lastClock, clock > last, clock &- last < 60 * Self.timescale else { return }
        var next = last
        while clock &- next > Self.longestClockGap {
            next &+= Self.longestClockGap
            self.writer.clock(next, pid: pid)
            self.lastClock = next
        }
    }

    // MARK: Elementary stream packets

    private struct StreamPacket {
        let pid: UInt16
        let dts: Int64
        let bytes: [UInt8]
        let isRandomAccess: Bool
    }

    private mutating func packets(_ units: [StreamUnit], _ parameters: Parameters) -> [StreamPacket] {
        var packets: [StreamPacket] = []
        var frames: [StreamUnit] = []
        // One and a half AAC frames.
        let longestFrame = 1_536 * Self.timescale / Int64(max(1, parameters.audio?.sampleRate ?? 1))
        func closeAudio() {
            guard let first = frames.first, let audio = parameters.audio else { return }
            var payload: [UInt8] = []
            for frame in frames { payload += ADTSHeader.bytes(for: audio, payload: frame.bytes.count) + frame.bytes }
            packets.append(
                StreamPacket(
                    pid: Self.audio, dts: first.dts,
                    bytes: Self.packet(0xC0, payload, pts: first.pts, dts: first.pts, isBounded: true),
                    isRandomAccess: parameters.video == nil))
            frames = []
        }
        for unit in units {
            switch unit.content {
            case .picture(let isKey):
                guard let video = parameters.video else { continue }
                let payload = AnnexBPicture.bytes(unit.bytes, isKey: isKey, video)
                // If frames are reordered further than before, their decoding times are earlier, but they must not be
                // before that of a frame already written.
                var dts = unit.dts
                if let last = self.lastPicture, dts <= last, unit.pts > last { dts = last &+ 1 }
                self.lastPicture = dts
                packets.append(
                    StreamPacket(
                        pid: Self.video, dts: dts,
                        bytes: Self.packet(0xE0, payload, pts: unit.pts, dts: dts, isBounded: false),
                        isRandomAccess: isKey))
            case .audio:
                guard parameters.audio != nil, unit.bytes.count <= ADTSHeader.longestPayload else { continue }
                // A frame that does not directly follow the previous one needs a PES packet with its own time.
                if let last = frames.last, unit.pts <= last.pts || unit.pts &- last.pts > longestFrame { closeAudio() }
                frames.append(unit)
                if frames.count == Self.framesPerPacket { closeAudio() }
            case .metadata:
                // Only video may use a length of 0, which stands for longer payloads.
                guard parameters.hasMetadata, unit.bytes.count <= Self.longestMetadata else { continue }
                packets.append(
                    StreamPacket(
                        pid: Self.metadata, dts: unit.dts,
                        bytes: Self.packet(0xBD, unit.bytes, pts: unit.pts, dts: unit.pts, isBounded: true),
                        isRandomAccess: false))
            }
        }
        closeAudio()
        // A stable sort: packets with the same time keep their order.
        return packets.enumerated().sorted { ($0.element.dts, $0.offset) < ($1.element.dts, $1.offset) }.map(\.element)
    }

    /// Returns a PES packet. Only a video stream may omit its length (`isBounded` false). Spec: §2.4.3.6.
    private static func packet(
        _ stream: UInt8, _ payload: [UInt8], pts: Int64, dts: Int64, isBounded: Bool
    ) -> [UInt8] {
        let hasDTS = pts != dts
        let header = hasDTS ? 10 : 5
        let length = payload.count + header + 3
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length + 6)
        bytes += [0, 0, 1, stream]
        let shown = isBounded && length <= 0xFFFF ? length : 0
        bytes += [UInt8(truncatingIfNeeded: shown >> 8), UInt8(truncatingIfNeeded: shown)]
        // Alignment flag: the payload begins with an access unit.
        bytes += [0x84, hasDTS ? 0xC0 : 0x80, UInt8(header)]
        self.add(pts &+ Self.timeOffset, mark: hasDTS ? 3 : 2, to: &bytes)
        if hasDTS { self.add(dts &+ Self.timeOffset, mark: 1, to: &bytes) }
        bytes += payload
        return bytes
    }

    /// Writes a 33-bit time with marker bits. Spec: §2.4.3.7.
    private static func add(_ time: Int64, mark: UInt8, to bytes: inout [UInt8]) {
        let value = UInt64(bitPattern: time) & 0x1_FFFF_FFFF
        bytes.append(mark << 4 | UInt8(truncatingIfNeeded: value >> 29) & 0x0E | 1)
        bytes.append(UInt8(truncatingIfNeeded: value >> 22))
        bytes.append(UInt8(truncatingIfNeeded: value >> 14) & 0xFE | 1)
        bytes.append(UInt8(truncatingIfNeeded: value >> 7))
        bytes.append(UInt8(truncatingIfNeeded: value << 1) | 1)
    }

    // MARK: Program information

    private static let association = section(
        table: 0, extension: 1, [0, 1, 0xE0 | UInt8(Self.map >> 8), UInt8(Self.map & 0xFF)])

    private static func mapSection(_ parameters: Parameters) -> [UInt8] {
        let clock = parameters.video == nil ? Self.audio : Self.video
        var body: [UInt8] = [0xE0 | UInt8(clock >> 8), UInt8(truncatingIfNeeded: clock)]
        // Apple, Timed Metadata for HTTP Live Streaming §2.3.1: metadata_pointer_descriptor.
        let pointer: [UInt8] =
            parameters.hasMetadata
            ? [0x25, 15, 0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 0x1F, 0, 1] : []
        body += [0xF0, UInt8(pointer.count)] + pointer
        func stream(_ type: UInt8, _ pid: UInt16, _ descriptors: [UInt8]) {
            body += [type, 0xE0 | UInt8(pid >> 8), UInt8(truncatingIfNeeded: pid), 0xF0, UInt8(descriptors.count)]
            body += descriptors
        }
        if parameters.video != nil { stream(0x1B, Self.video, []) }
        if parameters.audio != nil { stream(0x0F, Self.audio, []) }
        if parameters.hasMetadata {
            // §2.3.2: metadata_descriptor.
            stream(
                0x15, Self.metadata,
                [0x26, 13, 0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 0x0F])
        }
        return self.section(table: 2, extension: 1, body)
    }

    /// Returns a section of program information that applies immediately and is the only one of its table. Spec:
    /// §2.4.4.3, §2.4.4.8.
    private static func section(table: UInt8, extension number: UInt16, _ body: [UInt8]) -> [UInt8] {
        let length = body.count + 9
        var bytes: [UInt8] = [table, 0xB0 | UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        bytes += [UInt8(number >> 8), UInt8(truncatingIfNeeded: number), 0xC1, 0, 0]
        bytes += body
        let checksum = MPEGTSChecksum.of(bytes)
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: checksum >> UInt32(shift))) }
        return bytes
    }
}

/// Converts an access unit to Annex B for MPEG-TS: with an access unit delimiter, and with parameter sets at key
/// frames. Spec: ISO/IEC 13818-1 §2.14.1, ISO/IEC 14496-10 Annex B.
enum AnnexBPicture {
    private static let startCode: [UInt8] = [0, 0, 0, 1]
    /// Access unit delimiter that allows any slice type.
    private static let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0]

    /// Converts an access unit.
    ///
    /// - Parameter unit: NAL units with four-byte lengths; the rest after an invalid length is ignored.
    static func bytes(_ unit: [UInt8], isKey: Bool, _ configuration: AVCConfiguration) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(unit.count + 256)
        bytes += self.delimiter
        if isKey {
            for set in configuration.sequenceParameterSets + configuration.pictureParameterSets {
                bytes += self.startCode
                bytes += set
            }
        }
        var position = 0
        while position + 4 < unit.count {
            let length = unit[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
            position += 4
            guard length > 0, length <= unit.count - position else { break }
            // This type writes delimiters and parameter sets itself.
            if ![7, 8, 9].contains(unit[position] & 0x1F) {
                bytes += self.startCode
                bytes += unit[position..<(position + length)]
            }
            position += length
        }
        return bytes
    }
}

/// The ADTS header that precedes an AAC frame. Spec: ISO/IEC 14496-3 §1.A.2.2.
enum ADTSHeader {
    static let size = 7
    /// Maximum size of an AAC frame in bytes, since the frame length has 13 bits.
    static let longestPayload = 0x1FFF - Self.size

    static func bytes(for configuration: AudioSpecificConfig, payload: Int) -> [UInt8] {
        let length = payload + Self.size
        // AAC-LC, the core of the other types, if the object type does not fit in two bits.
        let profile = UInt8((1...4).contains(configuration.objectType) ? configuration.objectType - 1 : 1)
        let rate = UInt8(AudioSpecificConfig.sampleRates.firstIndex(of: configuration.sampleRate) ?? 3)
        let channels = UInt8(configuration.channels == 8 ? 7 : min(7, max(0, configuration.channels)))
        return [
            0xFF, 0xF1, profile << 6 | rate << 2 | channels >> 2,
            channels << 6 | UInt8(truncatingIfNeeded: length >> 11) & 0x03, UInt8(truncatingIfNeeded: length >> 3),
            UInt8(truncatingIfNeeded: length << 5) & 0xE0 | 0x1F, 0xFC,
        ]
    }
}
