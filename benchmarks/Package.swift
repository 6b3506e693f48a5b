// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [.enableUpcomingFeature("InternalImportsByDefault")]
let cores: Target.Dependency = .product(name: "TandemCores", package: "tandem")

/// A package of its own, so that nobody who builds Tandem builds its benchmarks.
///
/// `make bench-quick` builds `KernelRunner` and `BenchTool` only, which need nothing but Tandem's own kernels and protocol cores; the
/// ordo-one suite is built by `make bench` alone.
let package = Package(
    name: "tandem-benchmarks",
    dependencies: [
        .package(name: "tandem", path: ".."),
        // Without traits: its memory counters need interposers that do not build everywhere. Allocations are counted
        // by callgrind instead (BenchTool kernels).
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(name: "KernelSuite", dependencies: [cores], swiftSettings: house),
        .executableTarget(name: "KernelRunner", dependencies: ["KernelSuite"], swiftSettings: house),
        .executableTarget(name: "BenchTool", swiftSettings: house),
        // The plugin looks for targets in a folder of the name "Benchmarks".
        .executableTarget(
            name: "Kernels", dependencies: ["KernelSuite", .product(name: "Benchmark", package: "benchmark")],
            path: "Sources/Benchmarks/Kernels", swiftSettings: house,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ],
    swiftLanguageModes: [.v6]
)
