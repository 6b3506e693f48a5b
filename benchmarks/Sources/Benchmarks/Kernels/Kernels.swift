import Benchmark
import BenchCases
import KernelSuite

/// The kernels under ordo-one/benchmark: distributions of time and throughput, for people who tune one.
///
/// What CI holds, instructions and allocations per item, comes from callgrind (`BenchTool kernels`): hardware counters
/// are missing on most virtual machines.
let benchmarks: @Sendable () -> Void = {
    for kernel in KernelSuite.all {
        let work = kernel.prepare()
        Benchmark(
            kernel.name,
            configuration: .init(
                metrics: [.wallClock, .throughput], scalingFactor: .kilo, maxDuration: .seconds(1))
        ) { benchmark in
            blackHole(work.kernel(benchmark.scaledIterations.count))
        }
    }
}
