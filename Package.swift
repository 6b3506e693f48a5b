// swift-tools-version: 6.2
import PackageDescription

/// Code that touches raw memory says so at every step: `grep -rn "unsafe " Sources` is the audit list.
let auditedMemory: [SwiftSetting] = [.strictMemorySafety(), .enableUpcomingFeature("InternalImportsByDefault")]
let house: [SwiftSetting] = [.enableUpcomingFeature("InternalImportsByDefault")]

/// Most tests are compiled without the optimizer, which takes longer over them than they run; what they test is
/// optimized, and so are those that work on every sample or byte themselves, or on the clock.
/// Without batch mode each file gets a compiler of its own, which loads every module anew: twice the time.
let judged: [SwiftSetting] =
    house
    + [.unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode", "-num-threads", "0"])]

let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let hummingbird: [Target.Dependency] = [
    .product(name: "HummingbirdCore", package: "hummingbird"),
    .product(name: "HummingbirdHTTP2", package: "hummingbird"),
]
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")

let package = Package(
    name: "tandem",
    products: [
        .executable(name: "tandem", targets: ["tandem"]),
        // What benchmarks/ measures: kernels and protocol cores alone, which start fast; that counts under callgrind.
        .library(name: "TandemCores", targets: ["MediaKernels", "BenchCases"]),
        // What Tests/Fuzz/ throws bytes at.
        .library(name: "TandemFuzz", targets: ["FuzzCases"]),
    ],
    // Within the minor version that the tests passed with (.ci/dependencies.txt; `make resolved` compares), for the reasons named.
    dependencies: [
        // The servers rely on details of its back-pressure and of its HTTP parser, which minor versions have changed.
        .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.0")),
        // Brings BoringSSL: its defaults (ciphers, versions) are part of what the guides promise.
        .package(url: "https://github.com/apple/swift-nio-ssl", .upToNextMinor(from: "2.37.2")),
        // Its HTTP/2 server is configured by API that is younger than its minor version.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", .upToNextMinor(from: "2.28.0"), traits: []),
        // Its connection pool decides how webhooks and uploads repeat themselves.
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        // Prints `--help` and the completions, which tests compare.
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.0")),
        // `RigidDeque` and `UniqueDeque` came with 1.6.
        .package(url: "https://github.com/apple/swift-collections", .upToNextMinor(from: "1.6.0")),
        // Small and stable API: any later minor version will do.
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
    ],
    // Ground floor first. A target may import only targets above it in this list (Tests/ArchitectureTests holds it so).
    targets: [
        .systemLibrary(
            name: "CLibAV", pkgConfig: "libavfilter",
            providers: [
                .apt(["libavcodec-dev", "libavformat-dev", "libavfilter-dev", "libswresample-dev", "zlib1g-dev"])
            ]),
        // The pages' files as C data: see its header.
        .target(name: "CPages"),
        // The commit of the build, for `tandem --version`: a target of its own, so that a new commit compiles one C file.
        .target(name: "CVersion"),
        .target(name: "MediaKernels", swiftSettings: auditedMemory),
        .target(name: "MediaTypes", dependencies: ["MediaKernels"], swiftSettings: house),
        .target(
            name: "Stages", dependencies: ["MediaTypes", .product(name: "DequeModule", package: "swift-collections")],
            swiftSettings: house),
        .target(name: "RTMP", dependencies: ["MediaTypes", "MediaKernels"], swiftSettings: house),
        .target(name: "HLS", dependencies: ["MediaTypes", "MediaKernels"], swiftSettings: house),
        .target(name: "HLSLint", dependencies: ["MediaTypes", "MediaKernels"], swiftSettings: house),
        .target(name: "PipelineSpec", dependencies: ["MediaTypes"], swiftSettings: house),
        .target(
            name: "Plan",
            dependencies: ["PipelineSpec", "MediaTypes", .product(name: "DequeModule", package: "swift-collections")],
            swiftSettings: house),
        .target(name: "Manifest", dependencies: ["Plan", "PipelineSpec", "MediaTypes"], swiftSettings: house),
        .target(name: "TLSFiles", dependencies: ["Stages", "MediaTypes", nioSSL] + nio, swiftSettings: house),
        .target(
            name: "Egress",
            dependencies: ["PipelineSpec", "MediaTypes"] + nio,
            swiftSettings: house),
        .target(name: "LibAV", dependencies: ["CLibAV", "MediaTypes", "MediaKernels"], swiftSettings: auditedMemory),
        .target(
            name: "Admission", dependencies: ["LibAV", "RTMP", "HLS", "PipelineSpec", "MediaTypes"],
            swiftSettings: house),
        .target(
            name: "Ingest",
            dependencies: [
                "Admission", "TLSFiles", "Egress", "RTMP", "LibAV", "Stages", "PipelineSpec", "MediaTypes",
                "MediaKernels", nioSSL,
                logging, .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ] + nio, swiftSettings: house),
        .target(
            name: "Program",
            dependencies: [
                "LibAV", "Stages", "MediaTypes", "MediaKernels", logging,
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        .target(
            name: "Ladder", dependencies: ["LibAV", "Stages", "MediaTypes", "MediaKernels", logging],
            swiftSettings: house),
        .target(
            name: "Packager", dependencies: ["HLS", "LibAV", "MediaTypes", "MediaKernels"], swiftSettings: house),
        .target(
            name: "Recording", dependencies: ["Packager", "HLS", "LibAV", "MediaTypes", "MediaKernels"],
            swiftSettings: house),
        .target(
            name: "Upload",
            dependencies: [
                "Egress", "Packager", "HLS", "LibAV", "Stages", "MediaTypes",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                nioSSL,
            ], swiftSettings: house),
        .target(
            name: "Push",
            dependencies: [
                "Egress", "PipelineSpec", "RTMP", "LibAV", "Stages", "MediaTypes", "MediaKernels", nioSSL, logging,
                .product(name: "NIOTLS", package: "swift-nio"),
            ] + nio,
            swiftSettings: house),
        .target(
            name: "Events",
            dependencies: [
                "Egress", "PipelineSpec", "LibAV", "Stages", "MediaTypes", nioSSL,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
            ] + nio, swiftSettings: house),
        .target(
            name: "HTTPListener",
            dependencies: [
                "TLSFiles", "Stages", "MediaTypes", nioSSL, httpTypes, logging,
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ] + hummingbird + nio,
            swiftSettings: house),
        .target(
            name: "Origin",
            dependencies: [
                "CPages", "Push", "HTTPListener", "HLS", "LibAV", "MediaTypes", "MediaKernels", httpTypes, logging,
            ] + nio,
            exclude: ["Page"], swiftSettings: house),
        .target(
            name: "Control",
            dependencies: [
                "CPages", "Events", "HTTPListener", "Stages", "MediaTypes", httpTypes, logging,
                .product(name: "DequeModule", package: "swift-collections"),
            ] + nio,
            exclude: ["Page", "openapi.json"], swiftSettings: house),
        .target(
            name: "Room",
            dependencies: [
                "Ingest", "Program", "Ladder", "Packager", "Recording", "Upload", "Push", "Events", "Origin", "Control",
                "Egress",
                "PipelineSpec",
                "LibAV", "HLS",
                "RTMP", "TLSFiles", "Admission",
                "Stages", "MediaTypes", "MediaKernels", logging,
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: house),
        .executableTarget(
            name: "tandem",
            dependencies: [
                "CVersion", "Room", "Control", "Events", "Recording", "Origin", "PipelineSpec", "Plan", "Manifest", "Push",
                "RTMP", "Egress", "HLS", "HLSLint", "LibAV", "Stages", "MediaTypes",
                logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], swiftSettings: house),
        .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: judged),
        .testTarget(name: "MediaKernelsTests", dependencies: ["TestSupport", "MediaKernels"], swiftSettings: house),
        .testTarget(
            name: "MediaTypesTests", dependencies: ["TestSupport", "MediaTypes", "MediaKernels"], swiftSettings: judged),
        .testTarget(name: "StagesTests", dependencies: ["Stages"], swiftSettings: judged),
        .testTarget(name: "LibAVTests", dependencies: ["LibAV", "MediaTypes"], swiftSettings: judged),
        .testTarget(
            name: "ProgramTests",
            dependencies: ["TestSupport", "Program", "LibAV", "RTMP", "Stages", "MediaTypes", "MediaKernels"],
            swiftSettings: judged
        ),
        .testTarget(
            name: "LadderTests", dependencies: ["Ladder", "LibAV", "HLS", "PipelineSpec", "MediaTypes"],
            swiftSettings: judged),
        .testTarget(
            name: "PipelineSpecTests", dependencies: ["TestSupport", "PipelineSpec", "MediaTypes"],
            swiftSettings: judged),
        .testTarget(name: "PlanTests", dependencies: ["Plan", "PipelineSpec", "MediaTypes"], swiftSettings: judged),
        .testTarget(
            name: "ManifestTests", dependencies: ["Manifest", "Plan", "PipelineSpec", "MediaTypes"],
            exclude: ["Golden"],
            swiftSettings: judged),
        // Here for its access to `package` code; only benchmarks/ uses it.
        .target(
            name: "BenchCases", dependencies: ["RTMP", "HLS", "MediaTypes", "MediaKernels"],
            path: "benchmarks/Sources/BenchCases", swiftSettings: house),
        // Here for its access to `package` code; Tests/Fuzz and FuzzTests use it.
        .target(
            name: "FuzzCases",
            dependencies: [
                "RTMP", "HLS", "HLSLint", "LibAV", "PipelineSpec", "Admission", "Ingest", "Events", "HTTPListener",
                "Control",
                "MediaTypes", "MediaKernels", httpTypes,
            ],
            path: "Tests/Fuzz/Sources/FuzzCases", swiftSettings: house),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzCases"], swiftSettings: judged),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: house),
        .target(
            name: "HLSTestKit", dependencies: ["TestSupport", "MediaTypes", "MediaKernels"], path: "Tests/HLSTestKit",
            swiftSettings: house),
        .testTarget(
            name: "HLSTests", dependencies: ["TestSupport", "HLSTestKit", "HLS", "MediaTypes", "MediaKernels"],
            exclude: ["Golden"], swiftSettings: judged),
        .testTarget(
            name: "HLSLintTests",
            dependencies: ["HLSLint", "HLSTestKit", "Packager", "HLS", "LibAV", "MediaTypes", "MediaKernels"],
            swiftSettings: judged),
        .testTarget(
            name: "PackagerTests",
            dependencies: ["HLSTestKit", "Packager", "HLS", "LibAV", "MediaTypes", "MediaKernels"],
            swiftSettings: judged),
        .testTarget(
            name: "RecordingTests",
            dependencies: [
                "TestSupport", "HLSTestKit", "Recording", "Packager", "HLS", "HLSLint", "MediaTypes", "MediaKernels",
            ],
            swiftSettings: judged),
        .testTarget(
            name: "RTMPTests", dependencies: ["TestSupport", "RTMP", "MediaTypes", "MediaKernels"],
            exclude: ["Fixtures"], swiftSettings: judged),
        .target(
            name: "HTTPProbe", dependencies: ["TestSupport", nioSSL] + nio, path: "Tests/HTTPProbe",
            swiftSettings: house),
        .testTarget(
            name: "AdmissionTests", dependencies: ["Admission", "RTMP", "PipelineSpec", "MediaTypes"],
            swiftSettings: judged),
        .testTarget(
            name: "IngestTests",
            dependencies: [
                "TestSupport", "Ingest", "Admission", "TLSFiles", "Egress", "HTTPProbe", "RTMP", "PipelineSpec",
                "MediaTypes", "MediaKernels", nioSSL, logging, .product(name: "NIOEmbedded", package: "swift-nio"),
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "TLSFilesTests", dependencies: ["TLSFiles", "HTTPProbe", "MediaTypes"], swiftSettings: judged),
        .testTarget(
            name: "UploadTests",
            dependencies: [
                "TestSupport", "Upload", "HLSTestKit", "HTTPProbe", "HLSLint", "Packager", "HLS", "MediaTypes",
                "MediaKernels", nioSSL,
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "PushTests",
            dependencies: [
                "TestSupport", "Push", "Egress", "PipelineSpec", "RTMP", "HTTPProbe", "MediaTypes", "MediaKernels",
                nioSSL,
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "HTTPListenerTests",
            dependencies: [
                "TestSupport", "HTTPListener", "HTTPProbe", "TLSFiles", "MediaTypes", httpTypes, logging,
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "OriginTests",
            dependencies: [
                "TestSupport", "Origin", "HLS", "HTTPListener", "HTTPProbe", "TLSFiles", "MediaTypes", "MediaKernels",
                httpTypes, logging,
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "EventsTests",
            dependencies: [
                "TestSupport", "Events", "Egress", "HTTPListener", "HTTPProbe", "PipelineSpec", "MediaTypes", httpTypes,
                logging,
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "TestSupport", "Control", "Events", "HTTPListener", "HTTPProbe", "PipelineSpec", "MediaTypes",
                httpTypes, logging,
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "RoomTests",
            dependencies: [
                "TestSupport", "Room", "Control", "Recording", "Packager", "Events", "PipelineSpec",
                "HLSLint", "HLS", "Ladder", "LibAV", "Stages", "MediaTypes", "MediaKernels", "Push", "Ingest", "RTMP",
                "HTTPListener", httpTypes, logging,
            ],
            swiftSettings: judged),
        .testTarget(
            name: "ReferenceTests",
            dependencies: ["TestSupport", "Admission", "Events", "LibAV", "MediaTypes", "Origin", "PipelineSpec", "RTMP"],
            swiftSettings: judged),
        .testTarget(
            name: "EndToEndTests",
            dependencies: ["TestSupport", "Push", "RTMP", "HLS", "LibAV", "MediaTypes", "MediaKernels"],
            exclude: ["Scripts"],
            swiftSettings: judged),
    ],
    swiftLanguageModes: [.v6]
)
