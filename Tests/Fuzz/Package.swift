// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [.enableUpcomingFeature("InternalImportsByDefault")]

/// A separate package, so that building Tandem does not build its fuzzer. `make fuzz` builds it with coverage counters
/// and AddressSanitizer; `make test` also runs the cases, seeded and short.
let package = Package(
    name: "tandem-fuzz",
    dependencies: [.package(name: "tandem", path: "../..")],
    targets: [
        .target(name: "CLibFuzzer"),
        .executableTarget(
            name: "FuzzRunner", dependencies: ["CLibFuzzer", .product(name: "TandemFuzz", package: "tandem")],
            swiftSettings: house),
    ],
    swiftLanguageModes: [.v6]
)
