/// The payload of one RTP packet to send.
package struct RTPPayload: Sendable, Hashable {
    package let bytes: [UInt8]
    /// Marker bit: of video, the last packet of a frame; of audio, the first one after silence.
    package let marker: Bool

    package init(bytes: [UInt8], marker: Bool) {
        self.bytes = bytes
        self.marker = marker
    }
}

/// Splits H.264 access units into RTP payloads.
///
/// Spec: RFC 6184 §6.2 (mode 1): consecutive small units are aggregated (STAP-A), large ones fragmented (FU-A). In mode
/// 0 each unit is one payload, which the encoder has to limit in size.
package struct H264Packetizer: Sendable {
    /// Largest payload in bytes, at least 16; ignored in mode 0.
    package let largestPayload: Int
    /// Whether packetization mode 1 is used, in which units may be aggregated and fragmented.
    package let isModeOne: Bool

    package init(largestPayload: Int, isModeOne: Bool = true) {
        self.largestPayload = max(16, largestPayload)
        self.isModeOne = isModeOne
    }

    /// - Parameter units: NAL units with their headers; empty ones are left out.
    package func payloads(_ units: [[UInt8]]) -> [RTPPayload] {
        var payloads: [[UInt8]] = []
        /// Units to aggregate, and the size of their STAP-A.
        var (run, size): ([[UInt8]], Int) = ([], 1)
        func endRun() {
            if run.count == 1 { payloads += run } else if run.count > 1 { payloads.append(Self.aggregate(run)) }
            (run, size) = ([], 1)
        }
        for unit in units where !unit.isEmpty {
            guard self.isModeOne, unit.count <= self.largestPayload else {
                endRun()
                payloads += self.isModeOne ? self.fragments(unit) : [unit]
                continue
            }
            if unit.count > 0xFFFF || size + 2 + unit.count > self.largestPayload { endRun() }
            run.append(unit)
            size += 2 + unit.count
            if unit.count > 0xFFFF { endRun() }
        }
        endRun()
        return RTPPayload.marked(payloads)
    }

    private static func aggregate(_ units: [[UInt8]]) -> [UInt8] {
        // The highest NRI of the units.
        var bytes: [UInt8] = [units.reduce(0) { max($0, ($1.first ?? 0) & 0x60) } | 24]
        for unit in units {
            bytes += [UInt8(truncatingIfNeeded: unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)]
            bytes += unit
        }
        return bytes
    }

    private func fragments(_ unit: [UInt8]) -> [[UInt8]] {
        let header = unit.first ?? 0
        var rest = unit.dropFirst()
        var fragments: [[UInt8]] = []
        while !rest.isEmpty {
            let piece = rest.prefix(self.largestPayload - 2)
            rest = rest.dropFirst(piece.count)
            let flags: UInt8 = (fragments.isEmpty ? 0x80 : 0) | (rest.isEmpty ? 0x40 : 0)
            fragments.append([header & 0xE0 | 28, flags | header & 0x1F] + piece)
        }
        return fragments
    }
}

/// Splits VP8 frames into RTP payloads whose descriptors have a picture id of 15 bits.
///
/// Spec: RFC 7741 §4.2.
package struct VP8Packetizer: Sendable {
    /// Largest payload in bytes, at least 16.
    package let largestPayload: Int
    private var pictureID: UInt16

    package init(largestPayload: Int, firstPictureID: UInt16 = 0) {
        self.largestPayload = max(16, largestPayload)
        self.pictureID = firstPictureID & 0x7FFF
    }

    package mutating func payloads(_ frame: [UInt8]) -> [RTPPayload] {
        let id = [0x80 | UInt8(self.pictureID >> 8), UInt8(self.pictureID & 0xFF)]
        self.pictureID = (self.pictureID + 1) & 0x7FFF
        let pieces = RTPPayload.pieces(of: frame, size: self.largestPayload - 4)
        // X, and S for the first packet; I.
        return RTPPayload.marked(
            pieces.enumerated().map { index, piece in [index == 0 ? 0x90 : 0x80, 0x80] + id + piece })
    }
}

/// Splits VP9 frames into RTP payloads in non-flexible mode, without layers, with a picture id of 15 bits.
///
/// Spec: RFC 9628 §4.2.
package struct VP9Packetizer: Sendable {
    /// Largest payload in bytes, at least 16.
    package let largestPayload: Int
    private var pictureID: UInt16

    package init(largestPayload: Int, firstPictureID: UInt16 = 0) {
        self.largestPayload = max(16, largestPayload)
        self.pictureID = firstPictureID & 0x7FFF
    }

    /// - Parameter isKey: Whether the frame refers to no other.
    package mutating func payloads(_ frame: [UInt8], isKey: Bool) -> [RTPPayload] {
        let id = [0x80 | UInt8(self.pictureID >> 8), UInt8(self.pictureID & 0xFF)]
        self.pictureID = (self.pictureID + 1) & 0x7FFF
        let pieces = RTPPayload.pieces(of: frame, size: self.largestPayload - 3)
        let payloads = pieces.enumerated().map { index, piece in
            let begins: UInt8 = index == 0 ? 0x08 : 0
            let ends: UInt8 = index == pieces.count - 1 ? 0x04 : 0
            // I; P; B; E; Z, since no frame is a reference of another spatial layer.
            return [0x81 | (isKey ? 0 : 0x40) | begins | ends] + id + piece
        }
        return RTPPayload.marked(payloads)
    }
}

/// Makes RTP payloads of Opus packets: each packet becomes one payload, unchanged.
///
/// Spec: RFC 7587 §4.2.
package enum OpusPacketizer {
    /// - Parameter beginsTalk: Whether the packet is the first after silence without packets (RFC 3551 §4.1).
    package static func payload(_ packet: [UInt8], beginsTalk: Bool = false) -> RTPPayload {
        RTPPayload(bytes: packet, marker: beginsTalk)
    }
}

extension RTPPayload {
    /// The payloads of one frame, the last one with the marker.
    fileprivate static func marked(_ payloads: [[UInt8]]) -> [RTPPayload] {
        payloads.enumerated().map { RTPPayload(bytes: $1, marker: $0 == payloads.count - 1) }
    }

    fileprivate static func pieces(of frame: [UInt8], size: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: frame.count, by: size).map { frame[$0..<min($0 + size, frame.count)] }
    }
}
