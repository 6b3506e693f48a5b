import BenchCases
import MediaKernels

extension KernelSuite {
    static let audioKernels: [KernelCase] = [mixAdd, peak, limiter, meters, drift, noise]

    /// Sample pairs in one item: those of an AAC packet.
    private static let pairs = 1024

    private static let mixAdd = KernelCase(name: "mix-add", unit: "float", unitsPerItem: pairs * 2) {
        let source = Fixture.audio(pairs: Self.pairs, level: 0.5, seed: 1)
        let base = Fixture.audio(pairs: Self.pairs, level: 0.5, seed: 2)
        func kernel(_ items: Int) -> [Float] {
            var target = base
            for _ in 0..<items {
                source.withUnsafeBufferPointer { source in
                    target.withUnsafeMutableBufferPointer { AudioMix.add(source, onto: $0, from: 0.25, to: 0.75) }
                }
            }
            return target
        }
        func reference(_ items: Int) -> [Float] {
            var target = base
            for _ in 0..<items {
                for index in target.indices {
                    let gain = 0.25 + 0.5 / Float(Self.pairs) * Float(index / 2)
                    target[index] += source[index] * gain
                }
            }
            return target
        }
        return KernelWork(
            kernel: { Self.mark(kernel($0)) }, reference: { Self.mark(reference($0)) },
            // The kernel may add the gain's terms in another order, which allows a difference of one rounding step.
            agrees: { zip(kernel(1), reference(1)).allSatisfy { abs($0 - $1) < 1e-6 } })
    }

    private static let peak = KernelCase(name: "peak", unit: "float", unitsPerItem: pairs * 2) {
        let samples = Fixture.audio(pairs: Self.pairs, level: 1, seed: 3)
        return KernelWork(
            kernel: { items in
                var sum: UInt64 = 0
                // Written each time; otherwise the compiler would compute the peak only once for all items.
                var samples = samples
                for item in 0..<items {
                    samples[0] = item & 1 == 0 ? 0 : 0.5
                    sum &+= UInt64(samples.withUnsafeBufferPointer { AudioMix.peak($0) }.bitPattern)
                }
                return sum
            },
            reference: { items in
                var sum: UInt64 = 0
                var samples = samples
                for item in 0..<items {
                    samples[0] = item & 1 == 0 ? 0 : 0.5
                    sum &+= UInt64(samples.reduce(Float(0)) { max($0, abs($1)) }.bitPattern)
                }
                return sum
            })
    }

    /// Audio above the ceiling, so that the gain changes all the time.
    private static let limiter = KernelCase(name: "limiter", unit: "float", unitsPerItem: pairs * 2) {
        let samples = Fixture.audio(pairs: Self.pairs, level: 2, seed: 4)
        func kernel(_ items: Int) -> [Float] {
            var limiter = Limiter()
            var block = samples
            for _ in 0..<items {
                // Overwrite the old samples; an assignment would allocate.
                block.withUnsafeMutableBufferPointer { _ = $0.update(fromContentsOf: samples) }
                limiter.process(&block)
            }
            return block
        }
        func reference(_ items: Int) -> [Float] {
            var limiter = PlainLimiter()
            var block = samples
            for _ in 0..<items { block = limiter.processed(samples) }
            return block
        }
        return KernelWork(
            kernel: { Self.mark(kernel($0)) }, reference: { Self.mark(reference($0)) },
            agrees: { zip(kernel(3), reference(3)).allSatisfy { abs($0 - $1) < 1e-5 } })
    }

    /// Two signals at once, as the mixer measures them.
    private static let meters = KernelCase(name: "meters", unit: "float", unitsPerItem: pairs * 4) {
        let signals = [6, 7].map { Fixture.audio(pairs: Self.pairs, level: 0.5, seed: $0) }
        return KernelWork(
            kernel: { items in
                var bank = MeterBank(count: 2)
                for _ in 0..<items { bank.measure(0, signals[0], 1, signals[1]) }
                return UInt64(bank.power(1, blocks: 1).bitPattern)
            },
            reference: { items in
                var meters = [PlainMeter(), PlainMeter()]
                var last: Float = 0
                for _ in 0..<items { for index in 0..<2 { last = meters[index].measured(signals[index]) } }
                return UInt64(last.bitPattern)
            },
            agrees: {
                var bank = MeterBank(count: 2)
                var plain = PlainMeter()
                var last: Float = 0
                for _ in 0..<3 {
                    bank.measure(0, signals[0], 1, signals[1])
                    last = plain.measured(signals[1])
                }
                return abs(bank.power(1, blocks: 1) - last) < 5e-3 * last
            })
    }

    /// A publisher whose clock is 100 ppm slow. The reference computes its weights for every pair.
    private static let drift = KernelCase(name: "drift-resampler", unit: "float", unitsPerItem: pairs * 2) {
        let samples = Fixture.audio(pairs: Self.pairs, level: 0.5, seed: 5)
        func kernel(_ items: Int) -> [Float] {
            var resampler = DriftResampler()
            var output: [Float] = []
            output.reserveCapacity(Self.pairs * 2 + 16)
            for _ in 0..<items { resampler.process(samples, into: &output, partsPerBillion: 100_000) }
            return output
        }
        func reference(_ items: Int) -> [Float] {
            var resampler = PlainDriftResampler()
            var output: [Float] = []
            for _ in 0..<items { output = resampler.processed(samples, partsPerBillion: 100_000) }
            return output
        }
        return KernelWork(
            kernel: { Self.mark(kernel($0)) }, reference: { Self.mark(reference($0)) },
            agrees: {
                let (fast, plain) = (kernel(3), reference(3))
                return fast.count == plain.count && zip(fast, plain).allSatisfy { abs($0 - $1) < 2e-4 }
            })
    }

    /// Steady noise, as between the words of a publisher.
    private static let noise = KernelCase(name: "noise-reducer", unit: "float", unitsPerItem: pairs * 2) {
        let samples = Fixture.audio(pairs: Self.pairs, level: 0.1, seed: 8)
        func kernel(_ items: Int) -> [Float] {
            let reducer = NoiseReducer()
            var output: [Float] = []
            output.reserveCapacity(Self.pairs * 2)
            for _ in 0..<items {
                output.removeAll(keepingCapacity: true)
                reducer.process(samples, into: &output)
            }
            return output
        }
        func reference(_ items: Int) -> [Float] {
            var reducer = PlainNoiseReducer()
            var output: [Float] = []
            for _ in 0..<items { output = reducer.processed(samples) }
            return output
        }
        return KernelWork(
            kernel: { Self.mark(kernel($0)) }, reference: { Self.mark(reference($0)) },
            agrees: {
                let (fast, plain) = (kernel(8), reference(8))
                return fast.count == plain.count && zip(fast, plain).allSatisfy { abs($0 - $1) < 1e-3 }
            })
    }

    private static func mark(_ samples: [Float]) -> UInt64 {
        stride(from: 0, to: samples.count, by: 61).reduce(UInt64(0)) { $0 &* 31 &+ UInt64(samples[$1].bitPattern) }
    }
}
