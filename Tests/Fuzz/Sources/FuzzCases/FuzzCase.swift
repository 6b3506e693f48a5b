/// One entry point for untrusted bytes, run by the fuzzer and by seeded tests.
public struct FuzzCase: Sendable {
    /// Short name, which is also its corpus folder.
    public let name: String
    /// Longest useful input in bytes.
    public let longest: Int
    /// Feeds the bytes to the code under test and checks its invariants.
    ///
    /// - Returns: The violated invariant; nil: none.
    public let run: @Sendable ([UInt8]) -> String?
    /// Mutates the bytes by their meaning; nil if plain byte mutations are as good.
    public let mutate: (@Sendable ([UInt8], UInt64) -> [UInt8])?
    /// Initial inputs, made from files of the tests.
    public let seeds: @Sendable () -> [(name: String, bytes: [UInt8])]

    init(
        _ name: String, longest: Int, mutate: (@Sendable ([UInt8], UInt64) -> [UInt8])? = nil,
        seeds: @escaping @Sendable () -> [(name: String, bytes: [UInt8])], run: @escaping @Sendable ([UInt8]) -> String?
    ) {
        self.name = name
        self.longest = longest
        self.run = run
        self.mutate = mutate
        self.seeds = seeds
    }
}

/// All cases of untrusted bytes.
public enum FuzzCases {
    public static let all: [FuzzCase] = [
        SessionCase.entry, ChunkCase.entry, AMF0Case.entry, TagCase.entry, DecoderCase.entry, PipelineCase.entry,
        PlaylistCase.entry, ControlCase.entry, DoorCase.entry, DepacketizerCase.entry, RTCMediaCase.entry,
        WebRTCCase.entry,
    ]
}
