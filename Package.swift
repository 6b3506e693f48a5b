// swift-tools-version: 6.2
import PackageDescription

/// Every expression that uses raw memory is marked: `grep -rn "unsafe " Sources` lists them for an audit.
let auditedMemory: [SwiftSetting] = [.strictMemorySafety(), .enableUpcomingFeature("InternalImportsByDefault")]
let house: [SwiftSetting] = [.enableUpcomingFeature("InternalImportsByDefault")]

/// Most tests, and the program that measures, are compiled without optimization, since optimizing them takes longer than running them. The code under test is
/// optimized, and so are tests that process every sample or byte themselves or measure time.
/// Without batch mode, each file is compiled by a separate process that loads all modules again, which takes twice as long.
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
        // Used by benchmarks/Package.swift.
        .library(name: "TandemKernels", targets: ["KernelSuite"]),
        // Used by Tests/Fuzz/.
        .library(name: "TandemFuzz", targets: ["FuzzCases"]),
    ],
    // Limited to the minor version that was tested (.ci/dependencies.txt; `make resolved` compares), for the stated reasons.
    dependencies: [
        // The servers depend on details of its back-pressure and of its HTTP parser, which have changed in minor versions.
        .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.0")),
        // Includes BoringSSL, whose defaults (ciphers, versions) are documented in the guides.
        .package(url: "https://github.com/apple/swift-nio-ssl", .upToNextMinor(from: "2.37.2")),
        // The HTTP/2 server's configuration API is newer than this minor version.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", .upToNextMinor(from: "2.28.0"), traits: []),
        // The behavior of its connection pool affects retries of webhooks and uploads.
        .package(url: "https://github.com/swift-server/async-http-client", .upToNextMinor(from: "1.37.0")),
        // Generates `--help` texts and completions, which tests compare.
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.0")),
        // `RigidDeque` and `UniqueDeque` need 1.6.
        .package(url: "https://github.com/apple/swift-collections", .upToNextMinor(from: "1.6.0")),
        // Small, stable APIs: any later minor version works.
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
    ],
    // Lowest layer first: a target may import only targets above it in this list (checked by Tests/ArchitectureTests).
    targets: [
        .systemLibrary(
            name: "CLibAV", pkgConfig: "libavfilter",
            providers: [
                .apt(["libavcodec-dev", "libavformat-dev", "libavfilter-dev", "libswresample-dev", "zlib1g-dev"])
            ]),
        // DTLS and the ciphers of SRTP. FFmpeg's libraries load OpenSSL as well.
        .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        // The files of the web pages as C data; see its header.
        .target(name: "CPages"),
        // The commit for `tandem --version`. As a separate target, a new commit recompiles only one C file.
        .target(name: "CVersion"),
        .target(name: "Libc", swiftSettings: house),
        .target(name: "MediaKernels", dependencies: ["Libc"], swiftSettings: auditedMemory),
        .target(name: "MediaTypes", dependencies: ["MediaKernels"], swiftSettings: house),
        .target(name: "OpenSSLCrypto", dependencies: ["COpenSSL", "MediaTypes"], swiftSettings: auditedMemory),
        .target(
            name: "Threading",
            dependencies: ["Libc", "MediaTypes", .product(name: "DequeModule", package: "swift-collections")],
            swiftSettings: house),
        .target(name: "RTMP", dependencies: ["MediaTypes", "MediaKernels"], swiftSettings: house),
        .target(
            name: "WebRTC", dependencies: ["OpenSSLCrypto", "MediaTypes", "MediaKernels"], swiftSettings: house),
        .target(name: "HLS", dependencies: ["MediaTypes", "MediaKernels"], swiftSettings: house),
        .target(name: "HLSLint", dependencies: ["MediaTypes"], swiftSettings: house),
        .target(name: "PipelineSpec", dependencies: ["Libc", "MediaTypes"], swiftSettings: house),
        .target(name: "TerminalText", dependencies: ["MediaTypes"], swiftSettings: house),
        .target(
            name: "CapacityPlan",
            dependencies: [
                "Libc", "PipelineSpec", "MediaTypes", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        .target(
            name: "Secrets", dependencies: ["Libc", "PipelineSpec", "Threading", "MediaTypes"], swiftSettings: house),
        .target(name: "Manifest", dependencies: ["CapacityPlan", "PipelineSpec", "MediaTypes"], swiftSettings: house),
        .target(
            name: "TLSFiles", dependencies: ["Libc", "Threading", "MediaTypes", nioSSL] + nio, swiftSettings: house),
        .target(
            name: "HTTPListener",
            dependencies: [
                "Libc", "CPages", "TLSFiles", "PipelineSpec", "WebRTC", "Threading", "MediaTypes", nioSSL, httpTypes,
                logging,
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ] + hummingbird + nio,
            exclude: ["PublisherPage"], swiftSettings: house),
        .target(name: "Egress", dependencies: ["Libc", "PipelineSpec"] + nio, swiftSettings: house),
        .target(
            name: "LibAV", dependencies: ["Libc", "CLibAV", "MediaTypes", "MediaKernels"], swiftSettings: auditedMemory),
        .target(
            name: "PublishAuth", dependencies: ["LibAV", "RTMP", "HLS", "PipelineSpec", "MediaTypes"],
            swiftSettings: house),
        .target(
            name: "WHEP",
            dependencies: [
                "Libc", "PublishAuth", "PipelineSpec", "TLSFiles", "HTTPListener", "OpenSSLCrypto", "WebRTC",
                "Threading", "MediaTypes",
                "MediaKernels", httpTypes, logging, .product(name: "DequeModule", package: "swift-collections"),
            ] + nio, swiftSettings: house),
        .target(
            name: "Ingest",
            dependencies: [
                "Libc", "PublishAuth", "TLSFiles", "Egress", "HTTPListener", "OpenSSLCrypto", "RTMP", "WebRTC", "LibAV",
                "Threading", "PipelineSpec", "MediaTypes", nioSSL, httpTypes, logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ] + nio, swiftSettings: house),
        .target(
            name: "Program",
            dependencies: [
                "Libc", "LibAV", "Threading", "MediaTypes", "MediaKernels", logging,
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        .target(
            name: "Encoding", dependencies: ["Libc", "LibAV", "HLS", "Threading", "MediaTypes", logging],
            swiftSettings: house),
        .target(
            name: "Packager", dependencies: ["Libc", "HLS", "LibAV", "MediaTypes", "MediaKernels"], swiftSettings: house
        ),
        .target(
            name: "Recording",
            dependencies: ["Libc", "Packager", "HLS", "LibAV", "Threading", "MediaTypes", "MediaKernels"],
            swiftSettings: house),
        .target(
            name: "Upload",
            dependencies: [
                "Egress", "Packager", "HLS", "LibAV", "Threading", "MediaTypes",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                nioSSL,
            ], swiftSettings: house),
        .target(
            name: "Retention", dependencies: ["Upload", "Recording", "Packager", "HLS", "MediaTypes"],
            swiftSettings: house),
        .target(
            name: "Push",
            dependencies: [
                "Egress", "PipelineSpec", "RTMP", "LibAV", "Threading", "MediaTypes", "MediaKernels", nioSSL, logging,
                .product(name: "NIOTLS", package: "swift-nio"),
            ] + nio,
            swiftSettings: house),
        .target(
            name: "Events",
            dependencies: [
                "Libc", "Egress", "PipelineSpec", "LibAV", "Threading", "MediaTypes", nioSSL,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
            ] + nio, swiftSettings: house),
        .target(
            name: "Origin",
            dependencies: [
                "Libc", "CPages", "Push", "WHEP", "WebRTC", "HTTPListener", "HLS", "LibAV", "PipelineSpec",
                "MediaTypes",
                "MediaKernels", httpTypes, logging,
            ] + nio,
            exclude: ["Page"], swiftSettings: house),
        .target(
            name: "Control",
            dependencies: [
                "Libc", "CPages", "Events", "HTTPListener", "Origin", "PipelineSpec", "Threading", "MediaTypes",
                httpTypes,
                logging,
                .product(name: "DequeModule", package: "swift-collections"),
            ] + nio,
            exclude: ["Page", "openapi.json"], swiftSettings: house),
        .target(
            name: "PublishEdge",
            dependencies: [
                "Libc", "Ingest", "PublishAuth", "TLSFiles", "HTTPListener", "RTMP", "LibAV", "Threading",
                "PipelineSpec", "MediaTypes", "MediaKernels", nioSSL, httpTypes, logging,
            ] + nio, swiftSettings: house),
        .target(
            name: "RoomAPI",
            dependencies: [
                "Libc", "LibAV", "Ingest", "Program", "Encoding", "Packager", "Recording", "Events", "Origin",
                "Control",
                "PipelineSpec", "HLS", "RTMP", "WebRTC", "Threading", "MediaTypes", logging,
            ], swiftSettings: house),
        .target(
            name: "RoomSources",
            dependencies: [
                "Libc", "RoomAPI", "Ingest", "HTTPListener", "Program", "Packager", "Recording", "Events", "Control",
                "Egress",
                "PipelineSpec", "Secrets", "LibAV", "HLS", "RTMP", "WebRTC", "TLSFiles", "PublishAuth",
                "Threading",
                "MediaTypes", "MediaKernels", logging,
            ], swiftSettings: house),
        .target(
            name: "RoomScenes",
            dependencies: [
                "RoomSources", "Program", "Events", "Control", "PipelineSpec", "LibAV", "HLS", "Threading",
                "MediaTypes", logging,
            ], swiftSettings: house),
        .target(
            name: "RoomOutputs",
            dependencies: [
                "Control", "Events", "Push", "WHEP", "Upload", "Recording", "Packager", "Encoding", "Program", "LibAV",
                "Secrets", "Egress",
                "PipelineSpec", "HLS", "RTMP", "Threading", "MediaTypes", "MediaKernels", logging,
            ], swiftSettings: house),
        .target(
            name: "Room",
            dependencies: [
                "Libc", "RoomAPI", "RoomSources", "RoomScenes", "RoomOutputs",
                "Ingest", "Program", "Encoding", "Packager", "Recording", "Upload", "Push", "WHEP", "Events", "Origin",
                "Control",
                "Egress",
                "PipelineSpec", "Secrets",
                "LibAV", "HLS",
                "RTMP", "TLSFiles", "PublishAuth",
                "Threading", "MediaTypes", "MediaKernels", logging,
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: house),
        .executableTarget(
            name: "tandem",
            dependencies: [
                "CVersion", "Libc", "Room", "RoomAPI", "RoomOutputs", "Control", "Events", "Recording",
                "Origin", "PipelineSpec", "CapacityPlan", "Secrets", "PublishAuth", "Manifest", "Retention", "Upload",
                "Push", "PublishEdge", "TLSFiles", "TerminalText",
                "RTMP", "Egress", "HLS",
                "HLSLint", "LibAV",
                "Threading", "MediaTypes",
                logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], swiftSettings: house),
        .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: judged),
        .testTarget(
            name: "MediaKernelsTests", dependencies: ["TestSupport", "KernelSuite", "MediaKernels"],
            swiftSettings: house),
        .testTarget(
            name: "MediaTypesTests", dependencies: ["TestSupport", "MediaTypes", "MediaKernels"], swiftSettings: judged),
        .testTarget(name: "ThreadingTests", dependencies: ["TestSupport", "Threading"], swiftSettings: judged),
        .testTarget(
            name: "OpenSSLCryptoTests", dependencies: ["TestSupport", "OpenSSLCrypto", "COpenSSL", "MediaTypes"],
            swiftSettings: judged),
        .testTarget(
            name: "LibAVTests", dependencies: ["HLSTestKit", "LibAV", "MediaTypes", "MediaKernels"],
            swiftSettings: judged),
        .testTarget(
            name: "ProgramTests",
            dependencies: ["TestSupport", "Program", "LibAV", "RTMP", "Threading", "MediaTypes", "MediaKernels"],
            swiftSettings: judged
        ),
        .testTarget(
            name: "EncodingTests",
            dependencies: ["TestSupport", "Encoding", "LibAV", "HLS", "PipelineSpec", "MediaTypes"],
            exclude: ["Golden"], swiftSettings: judged),
        .testTarget(
            name: "PipelineSpecTests", dependencies: ["TestSupport", "PipelineSpec", "MediaTypes"],
            swiftSettings: judged),
        .testTarget(
            name: "TerminalTextTests", dependencies: ["TerminalText", "Events", "MediaTypes"], swiftSettings: judged),
        .testTarget(
            name: "CapacityPlanTests", dependencies: ["CapacityPlan", "PipelineSpec", "MediaTypes"],
            swiftSettings: judged),
        .testTarget(
            name: "ManifestTests", dependencies: ["Manifest", "CapacityPlan", "PipelineSpec", "MediaTypes"],
            exclude: ["Golden"],
            swiftSettings: judged),
        // The benchmarks are in this package for access to `package` declarations, and so that modules are built once.
        .target(
            name: "BenchCases", dependencies: ["RTMP", "HLS", "MediaTypes", "MediaKernels"],
            path: "benchmarks/Sources/BenchCases", swiftSettings: house),
        .target(
            name: "KernelSuite", dependencies: ["BenchCases", "MediaKernels"], path: "benchmarks/Sources/KernelSuite",
            swiftSettings: house),
        // Contains only kernels and protocol cores, so that it starts fast under callgrind.
        .executableTarget(
            name: "KernelRunner", dependencies: ["KernelSuite"], path: "benchmarks/Sources/KernelRunner",
            swiftSettings: house),
        .executableTarget(name: "BenchTool", path: "benchmarks/Sources/BenchTool", swiftSettings: judged),
        // In this package for access to `package` declarations; used by Tests/Fuzz and FuzzTests.
        .target(
            name: "FuzzCases",
            dependencies: [
                "RTMP", "WebRTC", "WHEP", "HLS", "HLSLint", "LibAV", "PipelineSpec", "PublishAuth", "Ingest", "Events",
                "HTTPListener", "Control",
                "MediaTypes", "MediaKernels", httpTypes,
            ],
            path: "Tests/Fuzz/Sources/FuzzCases", swiftSettings: house),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzCases"], swiftSettings: judged),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: house),
        .target(
            name: "HLSTestKit", dependencies: ["TestSupport", "HLS", "MediaTypes", "MediaKernels"],
            path: "Tests/HLSTestKit",
            swiftSettings: house),
        .testTarget(
            name: "HLSTests", dependencies: ["TestSupport", "HLSTestKit", "HLS", "MediaTypes", "MediaKernels"],
            exclude: ["Golden"], swiftSettings: judged),
        .testTarget(
            name: "HLSLintTests",
            dependencies: ["HLSLint", "HLSTestKit", "Packager", "HLS", "LibAV", "MediaTypes", "MediaKernels"],
            swiftSettings: house),
        .testTarget(
            name: "PackagerTests",
            dependencies: ["TestSupport", "HLSTestKit", "Packager", "HLS", "LibAV", "MediaTypes", "MediaKernels"],
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
        .testTarget(
            name: "WebRTCTests",
            dependencies: ["TestSupport", "WebRTC", "OpenSSLCrypto", "MediaTypes", "MediaKernels"],
            exclude: ["Fixtures", "Golden", "Offers"], swiftSettings: judged),
        .testTarget(
            name: "WHEPTests",
            dependencies: [
                "TestSupport", "WHEP", "WebRTC", "OpenSSLCrypto", "PipelineSpec", "MediaTypes", "MediaKernels", logging,
            ] + nio, swiftSettings: judged),
        .target(
            name: "HTTPProbe", dependencies: ["TestSupport", nioSSL] + nio, path: "Tests/HTTPProbe",
            swiftSettings: house),
        .testTarget(
            name: "PublishAuthTests",
            dependencies: ["TestSupport", "PublishAuth", "Secrets", "RTMP", "PipelineSpec", "MediaTypes"],
            swiftSettings: judged),
        .testTarget(
            name: "IngestTests",
            dependencies: [
                "TestSupport", "Ingest", "PublishAuth", "TLSFiles", "Egress", "HTTPProbe", "RTMP", "WebRTC",
                "OpenSSLCrypto", "PipelineSpec",
                "MediaTypes", "MediaKernels", nioSSL, logging, .product(name: "NIOEmbedded", package: "swift-nio"),
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "PublishEdgeTests",
            dependencies: ["PublishEdge", "PublishAuth", "RTMP", "PipelineSpec", "Threading", "MediaKernels", logging]
                + nio,
            swiftSettings: judged),
        .testTarget(
            name: "TLSFilesTests", dependencies: ["TLSFiles", "HTTPProbe", "MediaTypes"] + nio, swiftSettings: judged),
        .testTarget(
            name: "UploadTests",
            dependencies: [
                "TestSupport", "Upload", "HLSTestKit", "HTTPProbe", "HLSLint", "Packager", "HLS", "MediaTypes",
                "MediaKernels", nioSSL,
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "RetentionTests",
            dependencies: [
                "TestSupport", "Retention", "Room", "RoomSources", "Events", "Upload", "Recording", "Packager", "HLS",
                "MediaTypes",
            ],
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
                .product(name: "NIOEmbedded", package: "swift-nio"),
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
                "TestSupport", "Room", "RoomOutputs", "RoomSources", "Control", "Events", "HTTPListener", "HTTPProbe",
                "PipelineSpec", "MediaTypes", httpTypes, logging,
            ] + nio,
            swiftSettings: judged),
        .testTarget(
            name: "RoomTests",
            dependencies: [
                "TestSupport", "Room", "RoomAPI", "RoomSources", "RoomScenes", "RoomOutputs", "Secrets", "Control",
                "Recording", "Packager", "Events", "Origin", "PipelineSpec", "HLSLint", "HLS", "Encoding", "LibAV",
                "Threading",
                "MediaTypes", "MediaKernels", "Push", "Ingest", "RTMP", "WebRTC",
                "HTTPListener", "HTTPProbe", httpTypes, logging,
            ],
            swiftSettings: judged),
        .testTarget(
            name: "ReferenceTests",
            dependencies: [
                "TestSupport", "Events", "LibAV", "MediaTypes", "Origin", "PipelineSpec", "PublishAuth", "RTMP",
            ],
            swiftSettings: judged),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "TestSupport", "Push", "RTMP", "WebRTC", "OpenSSLCrypto", "HLS", "LibAV", "MediaTypes", "MediaKernels",
            ],
            exclude: ["Scripts"],
            swiftSettings: judged),
    ],
    swiftLanguageModes: [.v6]
)
