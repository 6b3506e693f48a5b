// swift-tools-version: 6.2
import PackageDescription

/// The ordo-one suite, a package of its own, so that nobody who builds Tandem builds its dependencies: `benchmarks/run.sh profile` builds it.
/// The other programs of benchmarks/Sources are targets of Tandem's own package.
let package = Package(
    name: "tandem-benchmarks",
    dependencies: [
        .package(name: "tandem", path: ".."),
        // Without traits: its memory counters need interposers that do not build everywhere. Allocations are counted
        // by callgrind instead (BenchTool kernels).
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        // The plugin looks for targets in a folder of the name "Benchmarks".
        .executableTarget(
            name: "Kernels",
            dependencies: [
                .product(name: "TandemKernels", package: "tandem"), .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Sources/Benchmarks/Kernels", swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault")],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ],
    swiftLanguageModes: [.v6]
)
