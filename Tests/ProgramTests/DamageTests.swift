import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Damaged packets: frames held or concealed, audio decoders reopened")
struct DamageTests {
    /// How a frame is damaged in transit.
    enum Damage: String, CaseIterable { case cut, changed }

    private static func items(damaged: Damage?) throws -> [SourceItem] {
        let (sets, packets) = try Material.frames(90)
        let configuration = try #require(AVCRecord(annexB: sets))
        var items = [SourceItem.configuration(CodecParameters(codec: .h264, configuration: configuration.record))]
        for (index, packet) in packets.enumerated() {
            guard index == 40, let damaged else {
                items.append(.packet(packet))
                continue
            }
            var unit = try #require(Material.units(packet).last)
            switch damaged {
            case .cut: unit.removeLast(unit.count * 2 / 3)
            case .changed: for index in unit.count / 3..<unit.count * 2 / 3 { unit[index] ^= 0x5A }
            }
            items.append(.packet(Material.packet(packet, FLVBytes.length(unit.count, 4) + unit)))
        }
        return items
    }

    @Test(
        "with decode.damaged `show`, damaged frames are shown as the decoder conceals them, on time",
        arguments: Damage.allCases)
    func concealed(damage: Damage) throws {
        let clean = StageRun.video(try Self.items(damaged: nil), ticks: 90)
        let run = StageRun.video(try Self.items(damaged: damage), ticks: 90)
        #expect(clean.ticks.map(\.index) == Array(0..<90))
        #expect(run.ticks.map(\.index) == Array(0..<90))
        let differing = run.ticks.indices.filter { run.ticks[$0].picture.digest != clean.ticks[$0].picture.digest }
        #expect(differing.first == 40 && differing.allSatisfy { (40..<60).contains($0) }, "\(differing)")
        #expect(run.failures.isEmpty)
    }

    @Test("`decode.damaged: hold` keeps the last good frame until the next key frame", arguments: Damage.allCases)
    func held(damage: Damage) throws {
        let clean = StageRun.video(try Self.items(damaged: nil), ticks: 90)
        let run = StageRun.video(try Self.items(damaged: damage), ticks: 90, holdsDamaged: true)
        #expect(run.ticks.map(\.index) == Array(0..<40) + [Int](repeating: 39, count: 20) + Array(60..<90))
        #expect(run.ticks[40..<60].allSatisfy { !$0.isFresh })
        for (shown, tick) in zip(run.ticks, 0...) {
            let good = (40..<60).contains(tick) ? 39 : tick
            #expect(shown.picture.digest == clean.ticks[good].picture.digest, "tick \(tick)")
        }
    }

    @Test("packets that contain no frame, between packets with B-frames, cause no frame to be lost")
    func swallowed() throws {
        let (sets, packets) = try Material.frames(100, bFrames: 2)
        let configuration = try #require(AVCRecord(annexB: sets))
        var items = [SourceItem.configuration(CodecParameters(codec: .h264, configuration: configuration.record))]
        let message: [UInt8] = [0x06, 5, 17] + [UInt8](repeating: 7, count: 17) + [0x80]
        for packet in packets {
            items.append(.packet(Material.packet(packet, FLVBytes.length(message.count, 4) + message)))
            items.append(.packet(packet))
        }
        let run = StageRun.video(items, ticks: 100)
        #expect(run.ticks.map(\.index) == Array(0..<100))
        #expect(run.stats.damaged > 64, "\(run.stats.damaged)")
    }

    /// A tone as AAC, with `bad` frames in the middle that no decoder accepts.
    private func audio(good: Int, bad: Int) throws -> [SourceItem] {
        let encoder = try AudioEncoder.open(sampleRate: 48_000, bitrate: 128_000, place: "test")
        var items = [SourceItem.configuration(CodecParameters(codec: .aac, configuration: encoder.configuration))]
        for frame in 0..<2 * good + bad {
            let samples = (0..<1_024).flatMap { index -> [Float] in
                let value = 0.6 * sinf(2 * .pi * Float(300 * (frame * 1_024 + index) % 48_000) / 48_000)
                return [value, value]
            }
            try encoder.encode(samples[...], pts: Int64(frame * 1_024)) { made in
                var packet = made
                let index = Int(made.pts / 1_024)
                // An LFE element, which stereo does not have.
                if (good..<good + bad).contains(index) {
                    packet = Material.packet(packet, [0x6A] + [UInt8](repeating: 0x55, count: 40))
                }
                packet.arrival = 100_000_000 + (made.pts + 1_024) * 1_000_000 / 48
                items.append(.packet(packet))
            }
        }
        return items
    }

    @Test(
        "after every 47 damaged audio packets in a row the decoder is reopened; one failure is reported, and later good audio is heard"
    )
    func audioDecoderBeginsAnew() throws {
        let run = StageRun.audio(try self.audio(good: 45, bad: 120), seconds: 4.9)
        #expect(run.stats.damaged == 120)
        #expect(run.stats.reopened == 2, "after every 47 in a row")
        #expect(run.failures == [.invalidData])
        let left = run.left
        func level(_ from: Double, _ to: Double) -> Float {
            left[Int(from * 48_000)..<Int(to * 48_000)].map { abs($0) }.max() ?? 0
        }
        #expect(level(0.7, 1.1) > 0.55 && level(4.2, 4.8) > 0.55)
        #expect(level(1.8, 3.4) == 0, "damage is silence, not noise")
        let steps = zip(left, left.dropFirst()).map { abs($0 - $1) }
        #expect((steps.max() ?? 1) < 0.035, "largest step \(steps.max() ?? 1)")
    }

    @Test("46 damaged audio packets in a row do not reopen the decoder")
    func shortRun() throws {
        let run = StageRun.audio(try self.audio(good: 45, bad: 46), seconds: 3)
        #expect(run.stats.damaged == 46 && run.stats.reopened == 0 && run.failures.isEmpty)
    }
}

/// Bytes that publishers write before NAL units.
enum FLVBytes {
    static func length(_ count: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }
}
