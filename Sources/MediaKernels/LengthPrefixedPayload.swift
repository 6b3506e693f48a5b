/// NAL units with four-byte big-endian lengths, and which types are among them.
public struct LengthPrefixedPayload: Sendable {
    /// The access unit: `[length u32][NAL unit]`, repeated.
    public let memory: PacketMemory
    /// Every NAL unit type that occurs in ``memory``.
    public let types: NALTypes
}
