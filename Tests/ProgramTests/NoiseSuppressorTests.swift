import Foundation
import LibAV
import MediaTypes
import Program
import Testing

@Suite("NoiseSuppressor: noise falls, speech stays, and every sample keeps its time")
struct NoiseSuppressorTests {
    /// What comes out of a suppressor.
    private struct Output {
        var samples: [Float] = []
        var positions: [Int64] = []
        var seams: [Int] = []
        /// Largest number of blocks that had come in and not out.
        var held = 0
    }

    /// Passes a signal through; `change` is called before each block with its index.
    private func run(
        _ suppressor: NoiseSuppressor, _ signal: [Float], seams: Set<Int> = [], finishes: Bool = true,
        change: (Int) -> Void = { _ in }
    ) -> Output {
        var output = Output()
        func take(_ samples: [Float], _ position: Int64, _ isRemapped: Bool) {
            if isRemapped { output.seams.append(output.positions.count) }
            output.samples += samples
            output.positions.append(position)
        }
        for (index, block) in VoiceSignal.blocks(signal).enumerated() {
            change(index)
            suppressor.process(block, at: Int64(index) * 1024 + 777, isRemapped: seams.contains(index), take)
            output.held = max(output.held, index + 1 - output.positions.count)
        }
        if finishes { suppressor.finish(take) }
        return output
    }

    @Test("noise suppression `fft` lowers steady noise by 10 dB and more within 3 s, and leaves speech within 2 dB")
    func noiseFalls() {
        let voice = VoiceSignal.voice(seconds: 6, amplitude: 0.05)
        let noisy = VoiceSignal.sum(voice, VoiceSignal.noise(seconds: 6, level: -50))
        let output = self.run(NoiseSuppressor(.fft, place: "test"), noisy).samples
        let pauses = VoiceSignal.pauses(3, 5.9)
        let (before, after) = (VoiceSignal.level(noisy, pauses), VoiceSignal.level(output, pauses))
        let speech = VoiceSignal.level(output, VoiceSignal.syllables(3, 5.9))
        let wanted = VoiceSignal.level(voice, VoiceSignal.syllables(3, 5.9))
        print("MEASURED: fft: noise \(before) to \(after) dBFS, speech \(wanted) to \(speech) dBFS")
        #expect(after < before - 10)
        #expect(abs(speech - wanted) < 2)
    }

    @Test(
        "with noise suppression `fft`, every block comes out with its position, at most two blocks late, and at the same sample"
    )
    func timeIsKept() {
        let voice = VoiceSignal.voice(seconds: 3, amplitude: 0.05)
        let output = self.run(NoiseSuppressor(.fft, place: "test"), voice, seams: [3, 70])
        let blocks = VoiceSignal.blocks(voice).count
        #expect(output.positions == (0..<blocks).map { Int64($0) * 1024 + 777 })
        #expect(output.samples.count == blocks * 2048)
        #expect(output.seams == [3, 70])
        #expect(output.held <= 2)
        #expect(VoiceSignal.shift(of: output.samples, against: voice, from: 1) == 0)
    }

    @Test(
        "turning noise suppression `fft` on and off makes no click and no shift; when it is off, the samples are those that come in"
    )
    func liveChange() {
        let tone = VoiceSignal.voice(seconds: 4, amplitude: 0.05)
        let suppressor = NoiseSuppressor(place: "test")
        #expect(suppressor.isIdle)
        let output = self.run(suppressor, tone, finishes: false) { index in
            if index == 40 { suppressor.choose(.fft) }
            if index == 110 { suppressor.choose(nil) }
            // A change of mind during a cross-fade.
            if index == 150 { suppressor.choose(.fft) }
            if index == 151 { suppressor.choose(nil) }
        }
        let blocks = VoiceSignal.blocks(tone).count
        #expect(suppressor.isIdle && output.positions.count == blocks, "nothing is held when it is off")
        #expect(output.samples[..<(40 * 2048)] == tone[..<(40 * 2048)])
        #expect(output.samples[(160 * 2048)...] == tone[(160 * 2048)..<(blocks * 2048)])
        #expect(VoiceSignal.largestStep(output.samples) < VoiceSignal.largestStep(tone) * 1.1)
        #expect(VoiceSignal.shift(of: output.samples, against: tone, from: 0.7) == 0)
        #expect(VoiceSignal.shift(of: output.samples, against: tone, from: 2.1) == 0)
    }

    /// A model that lets every frequency band pass unchanged.
    private static let transparent = model(dense: 24)

    /// ``transparent`` with another number of neurons in the first layer.
    private static func model(dense first: Int) -> String {
        func numbers(_ count: Int, _ value: Int = 0) -> String {
            [String](repeating: "\(value)", count: count).joined(separator: " ")
        }
        func dense(_ inputs: Int, _ neurons: Int, bias: Int) -> String {
            "\(inputs) \(neurons) 1\n\(numbers(inputs * neurons))\n\(numbers(neurons, bias))\n"
        }
        func recurrent(_ inputs: Int, _ neurons: Int) -> String {
            "\(inputs) \(neurons) 0\n\(numbers(3 * inputs * neurons))\n\(numbers(3 * neurons * neurons))\n\(numbers(3 * neurons))\n"
        }
        return "rnnoise-nu model file version 1\n" + dense(42, first, bias: 0) + recurrent(first, 24)
            + recurrent(first + 24 + 42, 48) + recurrent(24 + 48 + 42, 96) + dense(96, 22, bias: 8_000)
            + dense(24, 1, bias: 0)
    }

    private static func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(
            "model-\(UUID().uuidString) [1]:,'.txt"
        ).path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("a noise model is read from a path with a blank, brackets and a comma; filtered samples keep their time")
    func model() throws {
        let path = try Self.file(Self.transparent)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let voice = VoiceSignal.voice(seconds: 3, amplitude: 0.05)
        let suppressor = NoiseSuppressor(.model(path: path), place: "test")
        let output = self.run(suppressor, voice)
        #expect(suppressor.takeFailure() == nil)
        #expect(output.positions.count == VoiceSignal.blocks(voice).count && output.held <= 2)
        #expect(VoiceSignal.shift(of: output.samples, against: voice, from: 1) == 0)
        let levels = [voice, output.samples].map { VoiceSignal.level($0, VoiceSignal.syllables(1, 2.9)) }
        #expect(abs(levels[0] - levels[1]) < 1, "\(levels)")
    }

    @Test("if a noise model cannot be used, that is reported once, and the audio is not changed")
    func unusableModel() {
        let voice = VoiceSignal.voice(seconds: 0.5, amplitude: 0.05)
        let suppressor = NoiseSuppressor(.model(path: "/nonexistent/model"), place: "decode[7]")
        var failures: [MediaError] = []
        let output = self.run(suppressor, voice) { _ in
            suppressor.choose(.model(path: "/nonexistent/model"))
            if let failure = suppressor.takeFailure() { failures.append(failure) }
        }
        #expect(failures.count == 1 && failures.first?.what.contains("/nonexistent/model") == true)
        #expect(output.samples[...] == voice[..<output.samples.count] && !output.samples.isEmpty)
        #expect(!suppressor.isActive)
    }

    @Test("a noise model whose layers do not fit together, or that is truncated, is reported as unusable")
    func brokenModels() {
        func problem(_ text: String) -> String? { NoiseModel.problem(in: Array(text.utf8)) }
        #expect(problem(Self.transparent) == nil)
        #expect(problem("")?.contains("does not begin with") == true)
        #expect(problem(Self.transparent.replacing("version 1", with: "version 2"))?.contains("version 1") == true)
        #expect(problem(String(Self.transparent.dropLast(40))) != nil)
        // More bands than arnndn has memory for.
        #expect(problem(Self.transparent.replacing("\n96 22 1\n", with: "\n96 23 1\n")) != nil)
        #expect(problem(Self.transparent.replacing("\n24 24 0\n", with: "\n25 24 0\n")) != nil)
        #expect(problem(Self.transparent.replacing("\n42 24 1\n", with: "\n42 99999999999999999999 1\n")) != nil)
        // arnndn would skip the rest of a line, and read the next line as the weights.
        #expect(problem(Self.transparent.replacing("\n42 24 1\n", with: "\n42 24 1 ")) != nil)
        #expect(problem(Self.transparent.replacing("\n24 1 1\n", with: " 24 1 1\n")) != nil)
        // More inputs of a layer than arnndn has memory for.
        #expect(problem(Self.model(dense: 64)) != nil)
        #expect(problem(" " + Self.transparent) != nil)
        #expect(problem(Self.transparent.replacing("\n", with: " \r\n")) == nil)
        #expect(problem(Self.transparent + "\n0 0 0\n") == nil)
    }
}
