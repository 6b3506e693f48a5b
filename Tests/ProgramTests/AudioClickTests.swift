import LibAV
import MediaKernels
import MediaTypes
import Program
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One tone through decoder, resampler, placement, ring, gains and limiter, while the publisher changes its format.
@Suite("Changes of sample rate or channels cause no click")
struct AudioClickTests {
    struct Form: Sendable, CustomStringConvertible {
        var rate: Int
        var channels: Int

        var description: String { "\(self.rate) Hz × \(self.channels)" }
    }

    private static let hertz = 300.0
    private static let amplitude: Float = 0.6
    /// The tone's largest change from sample to sample at 48 kHz.
    private static let slope = Self.amplitude * Float(2 * Double.pi * Self.hertz / 48_000)

    /// The remainder of a step is spread over 240 sample pairs: 0.005 for the whole swing, and as much again where a
    /// filter starts.
    private static let bend: Float = 0.012

    /// 0.6 s of each format in packets of 20 ms; the tone continues across every change like a microphone's.
    private static func items(_ forms: [Form]) -> [SourceItem] {
        var items: [SourceItem] = []
        for (place, form) in forms.enumerated() {
            items.append(
                .configuration(
                    CodecParameters(
                        codec: .pcmS16, configuration: [], sampleRate: form.rate, channels: form.channels)))
            let count = form.rate / 50
            for packet in 0..<30 {
                var bytes: [UInt8] = []
                for index in 0..<count {
                    let time = 0.6 * Double(place) + Double(packet * count + index) / Double(form.rate)
                    let value = self.amplitude * Float(sin(2 * Double.pi * self.hertz * time))
                    let sample = UInt16(bitPattern: Int16((value * 32_767).rounded()))
                    for _ in 0..<form.channels {
                        bytes += [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
                    }
                }
                let ms = Int64(600 * place + 20 * packet)
                items.append(
                    .packet(
                        CodedPacket(
                            kind: .audio, memory: PacketMemory(bytes), pts: ms, dts: ms, timescale: 1000, isKey: true,
                            arrival: (ms + 50) * 1_000_000)))
            }
        }
        return items
    }

    @Test(
        "changes between mono and stereo, 44.1 and 48 kHz, and lower rates cause no click",
        arguments: [
            [Form(rate: 48_000, channels: 2), Form(rate: 48_000, channels: 1), Form(rate: 48_000, channels: 2)],
            [Form(rate: 48_000, channels: 2), Form(rate: 44_100, channels: 2), Form(rate: 48_000, channels: 2)],
            [Form(rate: 44_100, channels: 1), Form(rate: 48_000, channels: 2), Form(rate: 44_100, channels: 1)],
            [Form(rate: 22_050, channels: 1), Form(rate: 44_100, channels: 2), Form(rate: 11_025, channels: 1)],
        ])
    func changes(forms: [Form]) {
        let length = 0.6 * Double(forms.count)
        let run = StageRun.audio(Self.items(forms), seconds: length + 0.6)
        let left = run.left
        #expect(zip(left, stride(from: 1, to: run.audio.count, by: 2)).allSatisfy { $0 == run.audio[$1] })
        let steps = zip(left, left.dropFirst()).map { abs($0 - $1) }
        #expect(
            (steps.max() ?? 1) < Self.slope + Self.bend, "largest step \(steps.max() ?? 1), the tone's \(Self.slope)")
        // From 50 ms after the start of the tone, every 10 ms, which are three waves, has its loudness, also at
        // changes.
        let begin = left.firstIndex { abs($0) > 0.3 } ?? 0
        let heard = Array(left[begin + 2_400..<begin + Int(length * 48_000) - 4_800])
        let loudness = stride(from: 0, to: heard.count - 480, by: 480).map { start in
            (heard[start..<start + 480].map { $0 * $0 }.reduce(0, +) / 480).squareRoot()
        }
        let wanted = Self.amplitude / Float(2).squareRoot()
        let (least, most) = (loudness.min() ?? 0, loudness.max() ?? 0)
        print("MEASURED: \(forms): largest step \(steps.max() ?? 1) of \(Self.slope), loudness \(least) to \(most)")
        #expect(least > wanted * 0.85 && most < wanted * 1.1, "\(least) to \(most), not \(wanted)")
        #expect(run.stats.damaged == 0 && run.failures.isEmpty)
    }
}
