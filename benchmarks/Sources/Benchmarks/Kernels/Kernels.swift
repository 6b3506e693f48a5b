import Benchmark
import BenchCases
import KernelSuite

/// The kernels in ordo-one/benchmark: distributions of time and throughput, for tuning.
///
/// CI's thresholds (instructions and allocations per item) use callgrind (`BenchTool kernels`), since most virtual machines have
/// no hardware counters.
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
