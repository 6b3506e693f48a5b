/// One entry for bytes from outside: what a fuzzer, or a seeded test, throws its bytes at.
public struct FuzzCase: Sendable {
    /// Short name; its corpus lies in the folder of that name.
    public let name: String
    /// Longest input in bytes that says anything new.
    public let longest: Int
    /// Feeds the bytes to what is tested and holds it to its promises.
    ///
    /// - Returns: What was broken; `nil`: nothing.
    public let run: @Sendable ([UInt8]) -> String?
    /// Changes the bytes by what they mean; `nil` where plain bytes are as good.
    public let mutate: (@Sendable ([UInt8], UInt64) -> [UInt8])?
    /// Inputs to begin with, made from what lies in the tests.
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

/// Everything that reads bytes from outside.
public enum FuzzCases {
    public static let all: [FuzzCase] = [
        SessionCase.entry, ChunkCase.entry, AMF0Case.entry, TagCase.entry, DecoderCase.entry, PipelineCase.entry,
        PlaylistCase.entry, ControlCase.entry, DoorCase.entry,
    ]
}
