import MediaKernels
import MediaTypes
import WHEP

func ms(_ value: Int64) -> Int64 { value * 1_000_000 }

/// Coded packets of a program: 30 frames per second with a key frame every 32, and Opus packets of 20 ms.
struct TestProgram {
    static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x20, 0xDA, 0x01, 0x40, 0x16, 0xE4]
    static let pps: [UInt8] = [0x68, 0xCE, 0x38, 0x80]
    static let group: Int64 = 32

    static var configuration: CodecParameters {
        let record = AVCRecord(sequenceParameterSets: [self.sps], pictureParameterSets: [self.pps])
        return CodecParameters(codec: .h264, configuration: record?.record ?? [])
    }

    /// Nanoseconds of the program at a frame.
    static func time(ofFrame number: Int64) -> Int64 { number * 1_000_000_000 / 30 }

    /// A frame whose slice contains its number.
    ///
    /// - Parameter size: Bytes of the slice; nil: 6,000 for key frames, else 2,500.
    static func frame(_ number: Int64, isKey: Bool? = nil, size: Int? = nil, hasStartCodes: Bool = false) -> CodedPacket
    {
        let isKey = isKey ?? number.isMultiple(of: self.group)
        let head: [UInt8] = isKey ? [0x65, 0x88, 0xC0] : [0x41, 0x9B]
        let digits = (0..<4).map { UInt8(truncatingIfNeeded: (number >> (7 * $0)) & 0x7F) | 0x80 }
        let count = max(16, size ?? (isKey ? 6_000 : 2_500))
        let slice = head + digits + (0..<count - head.count - 4).map { UInt8(truncatingIfNeeded: $0) | 1 }
        // An access unit delimiter and an SEI, which viewers do not need.
        let units = [[0x09, 0xF0], [0x06, 0x05, 0x01, 0x80], slice]
        let bytes = units.flatMap { unit -> [UInt8] in
            let length = UInt32(unit.count)
            let prefix: [UInt8] =
                hasStartCodes
                ? [0, 0, 0, 1] : [0, UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
            return prefix + unit
        }
        return CodedPacket(
            kind: .video, memory: PacketMemory(bytes), pts: number, dts: number, duration: 1, timescale: 30,
            isKey: isKey)
    }

    /// The number in a frame's slice; nil for other payloads. The packet's units have lengths before them.
    static func number(in packet: CodedPacket) -> Int64? {
        var bytes = packet.withBytes { Array($0) }[...]
        while bytes.count > 4 {
            let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let unit = Array(bytes.dropFirst(4).prefix(length))
            bytes = bytes.dropFirst(4 + length)
            guard let type = unit.first.map({ $0 & 0x1F }), type == 1 || type == 5 else { continue }
            let start = type == 5 ? 3 : 2
            guard unit.count >= start + 4 else { return nil }
            return (0..<4).reduce(0) { $0 | Int64(unit[start + $1] & 0x7F) << (7 * Int64($1)) }
        }
        return nil
    }

    /// An Opus packet of 20 ms that contains its number.
    static func audioPacket(_ number: Int64) -> CodedPacket {
        let bytes: [UInt8] = [0xFC, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number), 1, 2, 3]
        return CodedPacket(
            kind: .audio, memory: PacketMemory(bytes), pts: number * 960, dts: number * 960, duration: 960,
            timescale: 48_000, isKey: true)
    }
}

/// Numbers that are the same in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (self.state ^ self.state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
