import LibAV
import MediaKernels
import MediaTypes
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Audio format changes in mid-stream")
struct AudioFormatTests {
    /// A 300 Hz tone at `rate`, as AAC.
    private func packets(rate: Int, seconds: Double) throws -> (CodecParameters, [CodedPacket]) {
        let encoder = try AudioEncoder.open(sampleRate: rate, bitrate: 128_000, place: "test")
        var packets: [CodedPacket] = []
        for frame in 0..<Int(seconds * Double(rate)) / 1_024 {
            let samples = (0..<1_024).flatMap { index -> [Float] in
                let turn = Float(300 * (frame * 1_024 + index) % rate) / Float(rate)
                let value = 0.6 * sinf(2 * .pi * turn)
                return [value, value]
            }
            try encoder.encode(samples[...], pts: Int64(frame * 1_024)) { packets.append($0) }
        }
        return (CodecParameters(codec: .aac, configuration: encoder.configuration), packets)
    }

    @Test(
        "changes between 44.1 and 48 kHz cause no step and no gap of 50 ms",
        arguments: [[44_100, 48_000], [48_000, 44_100, 48_000]])
    func rateChange(rates: [Int]) throws {
        var heard: [Float] = []
        var decoder: AudioDecoder?
        for rate in rates {
            let (parameters, packets) = try self.packets(rate: rate, seconds: 0.51)
            let next = try AudioDecoder.open(parameters, sampleRate: 48_000, place: "test", following: decoder)
            for packet in packets { #expect(next.decode(packet) { heard += $0.samples }) }
            decoder = next
        }
        let left = stride(from: 0, to: heard.count, by: 2).map { heard[$0] }
        #expect(left.count > 20_000 * rates.count)
        // A 300 Hz tone of 0.6 changes by at most 0.6 × 2π × 300 / 48000 = 0.024 per sample; a step is spread over 240.
        let steps = zip(left, left.dropFirst()).map { abs($0 - $1) }
        #expect((steps.max() ?? 1) < 0.035, "largest step \(steps.max() ?? 1)")
        // Silence inside: the longest run below −40 dB, after the first encoder's priming.
        var (run, longest) = (0, 0)
        for value in left.dropFirst(3_000) {
            run = abs(value) < 0.01 ? run + 1 : 0
            longest = max(longest, run)
        }
        #expect(longest < 2_400, "a gap of \(longest) samples")
    }

    /// The mix of constant channels, in hundredths: left and right.
    private static func heard(_ channels: [Int16], _ layout: ChannelLayout?) throws -> [Int] {
        var parameters = CodecParameters(
            codec: .pcmS16, configuration: [], sampleRate: 48_000, channels: channels.count)
        parameters.layout = layout
        let decoder = try AudioDecoder.open(parameters, sampleRate: 48_000, place: "test")
        let pair = channels.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let packet = CodedPacket(
            kind: .audio, memory: PacketMemory((0..<1_000).flatMap { _ in pair }), pts: 0, dts: 0, timescale: 48_000,
            isKey: true)
        var samples: [Float] = []
        #expect(decoder.decode(packet) { samples += $0.samples })
        return samples.suffix(2).map { Int(($0 * 100).rounded()) }
    }

    @Test("channels are downmixed by the positions the publisher declares, in any order")
    func layouts() throws {
        // A tenth, a fifth, three tenths and two fifths of full scale.
        let four: [Int16] = [3_277, 6_554, 9_830, 13_107]
        #expect(try Self.heard(four, ChannelLayout([.frontRight, .frontLeft, nil, nil])) == [20, 10])
        #expect(try Self.heard(four, ChannelLayout([nil, .lowFrequency, .frontLeft, .frontRight])) == [30, 40])
        // Half of a back center to both, 3 dB less of a side.
        #expect(try Self.heard(four, ChannelLayout([.backCenter, .sideLeft, nil, .sideRight])) == [19, 33])
        #expect(try Self.heard([3_277, 6_554], ChannelLayout([.frontRight, .frontLeft])) == [20, 10])
        #expect(try Self.heard([3_277, 6_554], ChannelLayout([.frontLeft, .frontRight])) == [10, 20])
        // A layout with another number of channels does not apply to this audio.
        #expect(try Self.heard([3_277, 6_554], ChannelLayout([.frontCenter])) == [10, 20])
    }

    @Test("in an unspecified layout the first two channels are left and right, and a single channel is both")
    func unspecified() throws {
        #expect(DownMix.stereo(try #require(ChannelLayout([nil, nil, nil]))) == [1, 0, 0, 0, 1, 0])
        #expect(DownMix.stereo(try #require(ChannelLayout([nil]))) == [1, 1])
        #expect(ChannelLayout([]) == nil && ChannelLayout([ChannelLayout.Speaker?](repeating: nil, count: 9)) == nil)
    }
}
