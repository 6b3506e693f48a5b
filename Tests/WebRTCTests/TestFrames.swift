import MediaKernels
import MediaTypes
import TestSupport
import WebRTC

/// Writes the bits of headers.
struct BitWriter {
    private var bits: [Bool] = []

    mutating func write(_ value: UInt32, bits count: Int) {
        for index in stride(from: count - 1, through: 0, by: -1) { self.bits.append(value >> UInt32(index) & 1 == 1) }
    }

    /// Unsigned Exp-Golomb.
    mutating func golomb(_ value: UInt32) {
        let length = 32 - (value + 1).leadingZeroBitCount
        self.write(0, bits: length - 1)
        self.write(value + 1, bits: length)
    }

    /// The bits, a 1, and zeros up to a whole byte.
    var bytes: [UInt8] {
        var bits = self.bits + [true]
        while !bits.count.isMultiple(of: 8) { bits.append(false) }
        return stride(from: 0, to: bits.count, by: 8).map { at in
            bits[at..<at + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }
}

/// Frames with valid headers and random content.
enum TestFrames {
    /// A sequence parameter set of the baseline profile. Sizes are multiples of 16.
    static func sps(id: UInt32 = 0, width: Int = 1280, height: Int = 720) -> [UInt8] {
        var bits = BitWriter()
        for value in [id, 0, 2, 1] { bits.golomb(value) }
        bits.write(0, bits: 1)
        bits.golomb(UInt32(width / 16 - 1))
        bits.golomb(UInt32(height / 16 - 1))
        // Frames only; direct_8x8_inference; no cropping, no VUI.
        bits.write(0b1100, bits: 4)
        return [0x67, 0x42, 0xC0, 0x20] + bits.bytes
    }

    static func pps(id: UInt32 = 0, sps: UInt32 = 0, variant: UInt32 = 0) -> [UInt8] {
        var bits = BitWriter()
        bits.golomb(id)
        bits.golomb(sps)
        bits.write(0, bits: 2)
        for value in [0, variant, 0] { bits.golomb(value) }
        bits.write(0, bits: 3)
        for _ in 0..<3 { bits.golomb(0) }
        bits.write(0, bits: 3)
        return [0x68] + bits.bytes
    }

    /// A slice of random content.
    static func slice(
        isIDR: Bool, firstMacroblock: UInt32 = 0, pps: UInt32 = 0, count: Int, _ random: inout TestRandom
    ) -> [UInt8] {
        var bits = BitWriter()
        for value in [firstMacroblock, isIDR ? 7 : 5, pps] { bits.golomb(value) }
        return [isIDR ? 0x65 : 0x41] + bits.bytes + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    static func lengthPrefixed(_ units: [[UInt8]]) -> [UInt8] {
        units.flatMap { unit in (0..<4).map { UInt8(truncatingIfNeeded: unit.count >> (24 - 8 * $0)) } + unit }
    }

    static func vp8(
        isKey: Bool, width: Int = 640, height: Int = 360, count: Int, _ random: inout TestRandom
    ) -> [UInt8] {
        // Frame tag: key frame bit, version 0, shown, size of the first partition.
        let tag = (isKey ? 0 : 1) | 1 << 4 | (count / 2) << 5
        var frame = [UInt8(tag & 0xFF), UInt8(tag >> 8 & 0xFF), UInt8(tag >> 16 & 0xFF)]
        if isKey {
            frame += [
                0x9D, 0x01, 0x2A, UInt8(width & 0xFF), UInt8(width >> 8), UInt8(height & 0xFF), UInt8(height >> 8),
            ]
        }
        return frame + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    static func vp9(
        isKey: Bool, width: Int = 640, height: Int = 360, count: Int, _ random: inout TestRandom
    ) -> [UInt8] {
        var bits = BitWriter()
        // Marker, profile 0, not existing; frame_type; shown, not resilient.
        bits.write(0b10000, bits: 5)
        bits.write(isKey ? 0 : 1, bits: 1)
        bits.write(0b10, bits: 2)
        if isKey {
            bits.write(0x49_8342, bits: 24)
            // BT.709, studio range.
            bits.write(0b0100, bits: 4)
            bits.write(UInt32(width - 1), bits: 16)
            bits.write(UInt32(height - 1), bits: 16)
        }
        return bits.bytes + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}

/// Numbers payloads as a sender does.
struct TestSender {
    var sequence: Int64 = 65_000
    var timestamp: UInt32 = 0xFFFF_0000
    var packets: [OrderedPacket] = []

    /// - Parameter step: Ticks from the frame before.
    mutating func send(_ payloads: [RTPPayload], step: UInt32 = 3000, orientation: UInt8? = nil) {
        self.timestamp &+= step
        for (index, payload) in payloads.enumerated() {
            // As for a packet: behind a header.
            let datagram = [UInt8](repeating: 0xEE, count: 12) + payload.bytes
            self.packets.append(
                OrderedPacket(
                    sequence: self.sequence, timestamp: self.timestamp, marker: payload.marker,
                    payload: datagram[12...], orientation: index == payloads.count - 1 ? orientation : nil,
                    arrival: self.sequence * 1_000_000, isAfterLoss: self.packets.isEmpty))
            self.sequence += 1
        }
    }

    mutating func send(_ payloads: [[UInt8]], step: UInt32 = 3000) {
        self.send(payloads.enumerated().map { RTPPayload(bytes: $1, marker: $0 == payloads.count - 1) }, step: step)
    }

    /// The packets without those at some indices; what follows says so.
    func packets(without lost: Set<Int>) -> [OrderedPacket] {
        var isAfterLoss = false
        return self.packets.enumerated().compactMap { index, packet in
            guard !lost.contains(index) else {
                isAfterLoss = true
                return nil
            }
            defer { isAfterLoss = false }
            return isAfterLoss ? packet.afterLoss : packet
        }
    }
}

extension OrderedPacket {
    var afterLoss: OrderedPacket { self.changed(isAfterLoss: true) }

    func changed(
        payload: [UInt8]? = nil, marker: Bool? = nil, timestamp: UInt32? = nil, isAfterLoss: Bool? = nil
    ) -> OrderedPacket {
        OrderedPacket(
            sequence: self.sequence, timestamp: timestamp ?? self.timestamp, marker: marker ?? self.marker,
            payload: payload.map { $0[...] } ?? self.payload, orientation: self.orientation, arrival: self.arrival,
            isAfterLoss: isAfterLoss ?? self.isAfterLoss)
    }
}

/// What a depacketizer gave out, in a form that can be compared.
struct TestResults: Equatable {
    var frames: [[UInt8]] = []
    var keys: [Bool] = []
    var damages: [FrameDamage] = []
    /// Frames and damages in order: 1 for a frame, 0 for damage.
    var order: [Int] = []
    var sizes: [FrameSize] = []
    var configurations: [[UInt8]] = []

    init(_ packets: [OrderedPacket], _ depacketizer: inout some VideoDepacketizer) {
        var results: [FrameResult] = []
        for packet in packets { depacketizer.receive(packet, time: Int64(packet.timestamp), into: &results) }
        for result in results {
            switch result {
            case .whole(let frame):
                self.frames.append(frame.memory.bytes)
                self.keys.append(frame.isKey)
                self.order.append(1)
                if let size = frame.size { self.sizes.append(size) }
                if let configuration = frame.configuration { self.configurations.append(configuration) }
            case .damaged(let damage):
                self.damages.append(damage)
                self.order.append(0)
            }
        }
    }

    static func h264(_ packets: [OrderedPacket]) -> TestResults {
        var depacketizer = H264Depacketizer()
        return TestResults(packets, &depacketizer)
    }

    static func vp8(_ packets: [OrderedPacket]) -> TestResults {
        var depacketizer = VP8Depacketizer()
        return TestResults(packets, &depacketizer)
    }

    static func vp9(_ packets: [OrderedPacket]) -> TestResults {
        var depacketizer = VP9Depacketizer()
        return TestResults(packets, &depacketizer)
    }
}
