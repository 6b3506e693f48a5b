import BenchCases
import MediaKernels

extension KernelSuite {
    /// A block of a room's audio as the mixer produces it: 21.3 ms of eight sources. The real-time factor is 21.3 ms divided by
    /// the time per item.
    static let roomKernels: [KernelCase] = [
        KernelCase(name: "eight-sources", unit: "float", unitsPerItem: 8 * 2048) { Self.room(drifting: false) },
        KernelCase(name: "eight-sources-drift", unit: "float", unitsPerItem: 8 * 2048) { Self.room(drifting: true) },
    ]

    private static let sources = 8

    private static func room(drifting: Bool) -> KernelWork {
        // Full scale together, so that the limiter must check inter-sample peaks in every block.
        let signals = (0..<Self.sources).map { Fixture.audio(pairs: 1024, level: 0.5, seed: UInt64(20 + $0)) }
        return KernelWork(
            kernel: { items in
                var room = FastRoom(signals: signals, isDrifting: drifting)
                for item in 0..<items { room.mix(signals, item) }
                return UInt64(room.block[777].bitPattern) &+ UInt64(room.meters.takePeak(8).bitPattern)
            },
            reference: { items in
                var room = PlainRoom(sources: Self.sources, isDrifting: drifting)
                for item in 0..<items { room.mix(signals, item) }
                return UInt64(room.block[777].bitPattern) &+ UInt64(room.power.bitPattern)
            },
            agrees: {
                var fast = FastRoom(signals: signals, isDrifting: drifting)
                var plain = PlainRoom(sources: Self.sources, isDrifting: drifting)
                for item in 0..<6 {
                    fast.mix(signals, item)
                    plain.mix(signals, item)
                }
                // Eight stretched sources differ eight times as much as one.
                return zip(fast.block, plain.block).allSatisfy { abs($0 - $1) < 2e-3 }
                    // The second filter of the bank is one sample late.
                    && abs(fast.meters.power(0, blocks: 1) - plain.power) < 5e-3 * plain.power
            })
    }

    /// The position of a volume ramp in item `item`.
    fileprivate static func ramp(_ item: Int) -> (from: Float, to: Float) {
        item & 1 == 0 ? (0.25, 0.75) : (0.75, 0.25)
    }
}

/// The room with the kernels.
private struct FastRoom {
    var drift: [DriftResampler]
    var stretched: [[Float]]
    var meters: MeterBank
    var limiter = Limiter()
    var block = [Float](repeating: 0, count: 2048)
    let isDrifting: Bool

    init(signals: [[Float]], isDrifting: Bool) {
        self.drift = signals.map { _ in DriftResampler() }
        self.stretched = signals.map { $0 + [0, 0, 0, 0, 0, 0, 0, 0] }
        self.meters = MeterBank(count: signals.count + 1)
        self.isDrifting = isDrifting
    }

    mutating func mix(_ signals: [[Float]], _ item: Int) {
        if self.isDrifting {
            for index in signals.indices {
                // Alternately more and less; never to the same position, where rounding would decide the number of pairs.
                let ratio = item & 1 == 0 ? 200_000 : -170_000
                self.drift[index].process(signals[index], into: &self.stretched[index], partsPerBillion: ratio)
            }
        }
        AudioMix.clear(&self.block)
        let (from, to) = KernelSuite.ramp(item)
        for index in signals.indices {
            let audio = self.isDrifting ? self.stretched[index] : signals[index]
            // Two gain lines, as if a ramp ends within the block.
            AudioMix.add(audio, onto: &self.block, pairs: 0..<700, from: from, to: to)
            AudioMix.add(audio, onto: &self.block, pairs: 700..<1024, from: to, to: to)
        }
        for index in stride(from: 0, to: signals.count, by: 2) {
            let pair = self.isDrifting ? self.stretched : signals
            self.meters.measure(index, pair[index], index + 1, pair[index + 1])
        }
        AudioMix.sanitize(&self.block)
        self.limiter.process(&self.block)
        self.meters.measure(signals.count, self.block)
    }
}

/// The same with plain loops.
private struct PlainRoom {
    var drift: [PlainDriftResampler]
    var meters: [PlainMeter]
    var limiter = PlainLimiter()
    var block: [Float] = []
    var power: Float = 0
    let isDrifting: Bool

    init(sources: Int, isDrifting: Bool) {
        self.drift = (0..<sources).map { _ in PlainDriftResampler() }
        self.meters = (0...sources).map { _ in PlainMeter() }
        self.isDrifting = isDrifting
    }

    mutating func mix(_ signals: [[Float]], _ item: Int) {
        var sum = [Float](repeating: 0, count: 2048)
        let (from, to) = KernelSuite.ramp(item)
        for index in signals.indices {
            var audio = signals[index]
            if self.isDrifting {
                let ratio = item & 1 == 0 ? 200_000 : -170_000
                audio = self.drift[index].processed(audio, partsPerBillion: ratio)
            }
            for place in 0..<min(2048, audio.count) {
                let way = Float(place / 2) / 700
                sum[place] += audio[place] * (place < 1400 ? from + (to - from) * way : to)
            }
            let measured = Array(audio.prefix(2048))
            let power = self.meters[index].measured(measured) * Float(measured.count) / 2048
            if index == 0 { self.power = power }
        }
        self.block = self.limiter.processed(sum.map { $0.isNaN ? 0 : max(-8, min(8, $0)) })
        _ = self.meters[signals.count].measured(self.block)
    }
}
