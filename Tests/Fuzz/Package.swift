// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [.enableUpcomingFeature("InternalImportsByDefault")]

/// A package of its own, so that nobody who builds Tandem builds its fuzzer. `make fuzz` builds it with coverage counters and
/// AddressSanitizer; the cases themselves also run, seeded and short, in `make test`.
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
