import HLS
import LibAV
import MediaKernels
import MediaTypes
import Testing

@Suite("Lint: damaged slices in a segment")
struct DamageCheckTests {
    /// Two seconds of moving rectangles with B-frames, as one block and its samples.
    private static func segment() throws -> (record: [UInt8], bytes: [UInt8], samples: [Range<Int>]) {
        let settings = VideoEncoderSettings(
            width: 320, height: 180, fps: 30, preset: "superfast", profile: "high", bitrate: 600_000,
            maxBitrate: 600_000, bufferSize: 600_000, bFrames: 1, lookaheadFrames: 0, threads: 1)
        let encoder = try VideoEncoder.open(settings, place: "test")
        let record = try #require(AVCConfiguration(extradata: encoder.parameterSets)).record
        var packets: [CodedPacket] = []
        for index in 0..<60 {
            var canvas = try PictureCanvas.open(width: 320, height: 180, fill: .black)
            for rect in 0..<40 {
                let x = (rect * 53 + index * (1 + rect % 5)) % 288, y = (rect * 29 + index * (rect % 3)) % 148
                canvas.fill(
                    x: x & ~1, y: y & ~1, width: 32, height: 32,
                    CanvasColor(
                        y: UInt8(40 + (rect * 37 + index) % 180), cb: UInt8(60 + rect * 2), cr: UInt8(200 - rect * 2)))
            }
            try encoder.encode(canvas.finish(), pts: Int64(index), forceIDR: index == 0) { packets.append($0) }
        }
        try encoder.finish { packets.append($0) }
        var bytes: [UInt8] = []
        let samples = packets.map { packet in
            let start = bytes.count
            bytes += packet.withBytes { Array($0) }
            return start..<bytes.count
        }
        return (record, bytes, samples)
    }

    private static func damagedFrames(_ record: [UInt8], _ bytes: [UInt8], _ samples: [Range<Int>]) -> Int? {
        DamageCheck.damagedFrames(configuration: record, memory: PacketMemory(bytes), samples: samples)
    }

    @Test(
        "slices as the encoder wrote them are reported as intact; overwritten bytes are found in the first, middle and last frames"
    )
    func damage() throws {
        let (record, bytes, samples) = try Self.segment()
        #expect(samples.count == 60)
        #expect(Self.damagedFrames(record, bytes, samples) == 0)
        // Bytes that are legal in a NAL unit, so that only decoding can tell.
        for frame in [0, 1, 20, 59] {
            let range = samples[frame]
            var damaged = bytes
            for place in (range.lowerBound + range.count / 4)..<(range.upperBound - range.count / 4) {
                damaged[place] = 0xA7
            }
            let count = try #require(Self.damagedFrames(record, damaged, samples))
            #expect(count > 0, "frame \(frame) of \(range.count) bytes")
        }
    }

    @Test("with parameter sets that cannot be read, slices are not reported as intact")
    func otherRecord() throws {
        let (_, bytes, samples) = try Self.segment()
        #expect(Self.damagedFrames([1, 2, 3], bytes, samples) != 0)
    }
}
