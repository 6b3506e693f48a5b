import MediaTypes
import WebRTC

/// Makes RTP packets for tests.
struct PacketBuilder {
    var payloadType: UInt8 = 96
    var ssrc: UInt32 = 0x1111_1111
    var sequence: UInt16 = 1
    var timestamp: UInt32 = 0
    var marker = false
    /// Header extension elements in the one-byte form.
    var elements: [(id: UInt8, bytes: [UInt8])] = []
    var payload: [UInt8] = [0x41, 0]
    /// Bytes of padding, its count included.
    var padding: UInt8 = 0

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24 + self.payload.count + Int(self.padding))
        bytes.append(0x80 | (self.padding > 0 ? 0x20 : 0) | (self.elements.isEmpty ? 0 : 0x10))
        bytes.append((self.marker ? 0x80 : 0) | self.payloadType)
        Self.append(UInt32(self.sequence), 2, &bytes)
        Self.append(self.timestamp, 4, &bytes)
        Self.append(self.ssrc, 4, &bytes)
        if !self.elements.isEmpty {
            let length = self.elements.reduce(0) { $0 + 1 + $1.bytes.count }
            bytes += [0xBE, 0xDE, 0, UInt8((length + 3) / 4)]
            for element in self.elements {
                bytes.append(element.id << 4 | UInt8(element.bytes.count - 1))
                bytes += element.bytes
            }
            for _ in length..<(length + 3) / 4 * 4 { bytes.append(0) }
        }
        bytes += self.payload
        if self.padding > 0 {
            for _ in 1..<self.padding { bytes.append(0) }
            bytes.append(self.padding)
        }
        return bytes
    }

    static func append(_ value: UInt32, _ count: Int, _ bytes: inout [UInt8]) {
        for shift in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * shift))) }
    }
}

extension NegotiatedTrack {
    /// H.264 with everything that Chromium negotiates.
    static let video = NegotiatedTrack(
        mid: "1", kind: .video, codec: .h264, payloadType: 96, rtxPayloadType: 97, clockRate: 90_000, hasNACK: true,
        hasPLI: true, hasTransportCC: true, transportCCExtension: 3, orientationExtension: 13, midExtension: 4,
        ridExtension: 10, repairedRidExtension: 11)
    static let audio = NegotiatedTrack(
        mid: "0", kind: .audio, codec: .opus, payloadType: 111, clockRate: 48_000, hasTransportCC: true,
        transportCCExtension: 3, midExtension: 4)

    func with(_ change: (inout NegotiatedTrack) -> Void) -> NegotiatedTrack {
        var track = self
        change(&track)
        return track
    }
}

/// Nanoseconds of this many milliseconds.
func ms(_ value: Int64) -> Int64 { value * 1_000_000 }
